"""ldap3's own tests, from its source distribution, against a server of ours.

The distribution has the tests and not the configuration module they import; `config_module.py`
is ours and takes its place. Nothing of ldap3 is kept here.
"""
