"""The module `test.config` of ldap3's tests: a server, with users and groups.

Written from the calls of the tests, for any server with inetOrgPerson. The file is copied into the
folder of the unpacked tests, so it imports no module of ours; names that begin with `test_` are
the tests', as are the arguments of the functions.
"""

import json
import os
import uuid
from typing import Any

from ldap3 import ANONYMOUS, ASYNC, NONE, SCHEMA, SIMPLE, SYNC, Connection, Server

_settings: dict[str, str] = json.loads(os.environ["LDAP3_SUITE"])

# A URL in place of a host, because two tests insist on the port 389.
test_server: str = _settings["url"]
test_port: int | None = None
test_base: str = _settings["base"]
test_moved: str = _settings["moved"]
test_user: str = _settings["user"]
test_password: str = _settings["password"]
test_secondary_user: str = _settings["secondary_user"]
test_secondary_password: str = _settings["secondary_password"]
test_strategy: Any = {"sync": SYNC, "async": ASYNC}[_settings["strategy"]]

# The kind of server in the tests that is nearest to the RFCs.
test_server_type = "SLAPD"
test_server_mode: Any = "IP_V4_ONLY"
test_get_info: Any = SCHEMA
test_check_names = True
test_lazy_connection = False
test_authentication = SIMPLE
test_auto_escape = True
test_auto_encode = True
test_validator: None = None

test_name_attr = "cn"
test_multivalued_attribute = "givenName"
test_singlevalued_attribute = "displayName"
test_int_attr = "gidNumber"
test_user_password = "Sesame-1"

# Imported by tests that then check the kind of server and do not use these names.
test_server_context = test_server_edir_name = test_root_partition = ""
test_sasl_user = test_sasl_password = test_sasl_realm = test_sasl_user_dn = ""
test_sasl_secondary_user = test_sasl_secondary_password = test_sasl_secondary_user_dn = ""
test_ntlm_user = test_ntlm_password = ""

_USER_CLASSES = ["top", "person", "organizationalPerson", "inetOrgPerson", "extensibleObject"]

_Added = tuple[str, dict[str, Any]]


_schema: Any = None
"""The server's schema once read, because decoding it takes longer than most of the tests."""


class _RefusedError(Exception):
    """The server refused an entry that a test requires."""


def random_id() -> str:
    """Return a prefix for the names of one test, without a hyphen, which tests look for."""
    return f"[{uuid.uuid4().hex[:10]}]"


def generate_dn(base: str, batch_id: str, name: str) -> str:
    return f"{test_name_attr}={batch_id}{name},{base}"


def get_connection(  # noqa: PLR0917 - the tests'
    bind: bool | None = None,
    use_ssl: bool = False,
    check_names: bool | None = None,
    lazy_connection: bool | None = None,
    authentication: str | None = None,
    get_info: Any = None,
    **mechanism: Any,
) -> Any:
    """Return a connection as the administrator or anonymous, bound unless `bind` is False."""
    known = _schema if get_info is None else None
    asked = NONE if known is not None else get_info or test_get_info
    server = Server(test_server, use_ssl=use_ssl, get_info=asked, mode=test_server_mode)
    if known is not None:
        server.attach_schema_info(known)
    who: dict[str, Any] = {"authentication": authentication or test_authentication}
    if who["authentication"] != ANONYMOUS:
        who |= {"user": test_user, "password": test_password}
    return Connection(
        server,
        auto_bind=bind is None or bind,
        version=3,
        client_strategy=test_strategy,
        lazy=test_lazy_connection if lazy_connection is None else lazy_connection,
        check_names=test_check_names if check_names is None else check_names,
        pool_name="suite",
        **who,
        **mechanism,
    )


def drop_connection(connection: Any, dn_to_delete: list[_Added] | None = None) -> None:
    """Delete the entries that a test added, also if it deleted them already, and unbind."""
    for dn, _ in dn_to_delete or []:
        get_operation_result(connection, connection.delete(dn))
    connection.unbind()


def get_response_values(
    result: Any, connection: Connection
) -> tuple[Any, dict[str, Any], Any, dict[str, Any]]:
    """Return status, result, response and request of any strategy."""
    if isinstance(result, bool):
        return result, connection.result, connection.response, connection.request
    response, outcome, request = connection.get_response(result, get_request=True)
    return outcome["result"] in {0, 5, 6}, outcome, response, request


def get_operation_result(connection: Any, result: Any) -> dict[str, Any]:
    return get_response_values(result, connection)[1]


def get_add_user_attributes(
    batch_id: str,
    username: str,
    password: str | None = None,
    attributes: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the attributes of a user, with `attributes` added."""
    everything: dict[str, Any] = {
        "objectClass": list(_USER_CLASSES),
        "sn": username,
        test_name_attr: batch_id + username,
        test_int_attr: 0,
        "userPassword": password or test_user_password,
    } | (attributes or {})
    if "extensibleObject" not in everything["objectClass"]:
        # A test uses its own classes, which do not allow every attribute above.
        everything["objectClass"] = [*everything["objectClass"], "extensibleObject"]
    return everything


def _as_bytes(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_bytes(one) for one in value]
    return str(value).encode() if isinstance(value, str | int) else value


def _add(connection: Any, dn: str, attributes: dict[str, Any]) -> _Added:
    classes = attributes.pop("objectClass")
    result = get_operation_result(connection, connection.add(dn, classes, attributes))
    if result["description"] != "success":
        raise _RefusedError(f"adding {dn}: {result}")
    return dn, result


def add_user(  # noqa: PLR0917 - the tests'
    connection: Any,
    batch_id: str,
    username: str,
    password: str | None = None,
    attributes: dict[str, Any] | None = None,
    test_bytes: bool = False,
) -> _Added:
    """Add a user; with `test_bytes` every value is sent as bytes."""
    everything = get_add_user_attributes(batch_id, username, password, attributes)
    if test_bytes:
        classes = everything.pop("objectClass")
        everything = {name: _as_bytes(value) for name, value in everything.items()}
        everything["objectClass"] = classes
    return _add(connection, generate_dn(test_base, batch_id, username), everything)


def add_group(
    connection: Any, batch_id: str, group_name: str, members: list[_Added] | None = None
) -> _Added:
    """Add a group of `members`, of which RFC 4519 requires at least one."""
    names = [dn for dn, _ in members or []] or [test_user]
    attributes = {"objectClass": ["groupOfNames"], "member": names}
    attributes[test_name_attr] = [batch_id + group_name]
    return _add(connection, generate_dn(test_base, batch_id, group_name), attributes)


def prepare() -> None:
    """Read the schema, and add the containers and the second user if they are missing."""
    global _schema
    connection = get_connection(check_names=False)
    _schema = connection.server.schema
    for dn in (test_base, test_moved):
        name = dn.partition(",")[0].partition("=")[2]
        _must_be_there(connection, dn, "organizationalUnit", {"ou": name})
    secondary = {"sn": "Secondary", "userPassword": test_secondary_password}
    _must_be_there(connection, test_secondary_user, "inetOrgPerson", secondary)
    connection.unbind()


def _must_be_there(connection: Any, dn: str, kind: str, attributes: dict[str, str]) -> None:
    result = get_operation_result(connection, connection.add(dn, kind, attributes))
    if result["description"] not in {"success", "entryAlreadyExists"}:
        raise _RefusedError(f"adding {dn}: {result}")
