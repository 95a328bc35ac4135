"""Portable users: a scenario step by step, for clients in Python."""

import json
from collections.abc import Iterator

from sitebench._engine import LdapRequest, PortableUsers

MIX = """base = 'ou=people,o=x'
data.n.range = [1, 9]
[connection.main]
bind = 'cn=admin,{base}'
password = '{env.PASSWORD}'
[[operation]]
name = 'all'
step = [
  { search = '(&(cn={n})(sn=*x*))', attributes = ['cn'], scope = 'one', control.sort = 'cn' },
  { add = 'cn=a{n},{base}', entry = { objectClass = 'person', sn = ['x', 'y'] } },
  { modify = 'cn=a{n},{base}', change = [{ replace.sn = ['a'] }, { delete.description = [] }] },
  { modify_dn = 'cn=a{n},{base}', new_rdn = 'cn=b{n}', new_superior = 'o=x' },
  { compare = 'cn=b{n},o=x', entry = { sn = 'a' } },
  { delete = 'cn=b{n},o=x' },
  { password_modify = '', old_password = '{env.PASSWORD}' },
]
"""


def requests() -> Iterator[LdapRequest]:
    """Yield the requests of one user, each of which is answered with success."""
    target = {"host": "127.0.0.1", "port": 1, "base": "ou=people,o=x", "profile": "paper"}
    scenario = {"name": "p", "text": MIX, "env": {"PASSWORD": "pw"}}
    steps = PortableUsers(json.dumps({"target": target, "scenarios": [scenario]})).steps("p")
    while (step := steps.next()) is not None:
        if step.ldap is not None:
            yield step.ldap
            steps.answered_ldap(6 if step.ldap.verb == "compare" else 0, "", [])


def test_request_has_the_parts_that_ldap_clients_need() -> None:
    users = requests()
    bind, search, add, modify, rename, compare, delete, change = (next(users) for _ in range(8))
    assert (bind.verb, bind.dn, bind.version) == ("bind", "cn=admin,ou=people,o=x", 3)
    assert (bind.sasl, bind.value) == (None, b"pw")
    assert (search.dn, search.scope, search.attributes) == ("ou=people,o=x", 1, ["cn"])
    assert search.filter.startswith("(&(cn=")
    assert search.filter.endswith(")(sn=*x*))")
    [(sort, critical, order)] = search.controls
    assert (sort, critical, type(order)) == ("1.2.840.113556.1.4.473", True, bytes)
    assert add.entry == [("objectClass", [b"person"]), ("sn", [b"x", b"y"])]
    assert modify.changes == [(2, ("sn", [b"a"])), (1, ("description", []))]
    assert rename.new_rdn.startswith("cn=b")
    assert (rename.delete_old_rdn, rename.new_superior) == (True, "o=x")
    assert compare.entry == [("sn", [b"a"])]
    assert (delete.verb, delete.dn) == ("delete", f"{rename.new_rdn},o=x")
    assert (change.verb, change.dn) == ("extended", "1.3.6.1.4.1.4203.1.11.1")
    assert change.value
