"""Dynamic entries as a client sees them (RFC 2589)."""

from typing import Any

from ldap3 import BASE

REFRESH = "1.3.6.1.4.1.1466.101.119.1"


def refresh(connection: Any, dn: str, ttl_s: int) -> bool:
    """Refresh an entry for `ttl_s` seconds (RFC 2589 4.1)."""
    name = dn.encode()
    body = b"\x80" + bytes([len(name)]) + name + b"\x81\x04" + ttl_s.to_bytes(4)
    assert len(body) < 128
    connection.extended(REFRESH, b"\x30" + bytes([len(body)]) + body)
    return succeeded(connection)


def succeeded(connection: Any) -> bool:
    return str(connection.result["description"]) == "success"


def there(connection: Any, dn: str) -> bool:
    connection.search(dn, "(objectClass=*)", BASE, attributes=["entryTtl"])
    return succeeded(connection)


def ttl_s(connection: Any, dn: str) -> int:
    assert there(connection, dn)
    return int(connection.response[0]["raw_attributes"]["entryTtl"][0])
