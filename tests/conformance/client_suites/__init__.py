"""The own tests of python-ldap and ldapts, against the embedded directory.

Their sources are fetched, at one version each and with its digest; nothing of them is kept here.
"""
