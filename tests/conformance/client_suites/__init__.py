"""The tests of python-ldap and ldapts, run against the embedded directory.

Their sources are downloaded, in one version each and checked by digest; this repository contains
none.
"""
