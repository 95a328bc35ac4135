"""ldap3's own tests, from its source distribution, against a server of this repository.

The distribution lacks the configuration module that its tests import; `config_module.py`
replaces it. This repository contains no part of ldap3.
"""
