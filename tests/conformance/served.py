"""A running directory: its address, its content, and its writers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Served:
    """One running directory, of either kind."""

    kind: str
    host: str
    port: int
    suffix: str
    admin_dn: str
    admin_password: str

    @property
    def url(self) -> str:
        return f"ldap://{self.host}:{self.port}"

    @property
    def is_embedded(self) -> bool:
        return self.kind == "embedded"
