"""The applicable tests of ldap3 for a generic server, and the reasons for excluding others."""

from dataclasses import dataclass

_NO_SERVER = "tests ldap3 alone and talks to no server"
_MOCK = "talks to ldap3's own mock server"
_EDIRECTORY = "does nothing unless the server is Novell eDirectory"

EXCLUDED_MODULES = {
    "testCaseInsensitiveDictionary": _NO_SERVER,
    "testCaseInsensitiveWithAliasDictionary": _NO_SERVER,
    "testDnParsing": _NO_SERVER,
    "testExceptions": _NO_SERVER,
    "testFormatGeneralizedTime": _NO_SERVER,
    "testLDIF-change": _NO_SERVER,
    "testParseSearchFilter": _NO_SERVER,
    "testRdns": _NO_SERVER,
    "testSaslPrep": _NO_SERVER,
    "testValidators": _NO_SERVER,
    "testMockASyncStrategy": _MOCK,
    "testMockBase": _MOCK,
    "testMockSyncStrategy": _MOCK,
    "testAddMembersToGroups": _EDIRECTORY,
    "testCheckGroupMembership": _EDIRECTORY,
    "testControls": _EDIRECTORY,
    "testRemoveMembersFromGroups": _EDIRECTORY,
    "testTransactions": _EDIRECTORY,
    "testMicrosoftAD": "does nothing unless the server is Active Directory",
    "testTls": "TLS with certificates of its authors' laboratory; tests/tls has its own",
}

_TLS = "TLS"
_SASL = "SASL or NTLM"
_HOME_INFO = "needs eDirectory's class homeInfo"
_AUXILIARY = "testAbstractionAuxiliaryClass"

# (module, test): reason
EXCLUDED_TESTS = {
    (_AUXILIARY, "test_create_entry_with_attribute_from_auxiliary_class"): _HOME_INFO,
    (_AUXILIARY, "test_read_entry_with_attribute_from_auxiliary_class"): _HOME_INFO,
    (_AUXILIARY, "test_read_entry_with_attribute_from_missing_auxiliary_class"): _HOME_INFO,
    ("testAbstractionWrite", "test_create_new_entry_invalid_mandatory"): _EDIRECTORY,
    ("testAddOperation", "test_add_binary"): "reads certificates that the distribution lacks",
    ("testBindOperation", "test_bind_ssl_cert_none"): _TLS,
    ("testBindOperation", "test_bind_sasl_digest_md5"): _SASL,
    ("testBindOperation", "test_ntlm"): _SASL,
    ("testBindOperation", "test_ldapi"): "a Unix socket at a path of Debian's slapd",
    ("testBindOperation", "test_ldapi_encoded_url"): "a Unix socket at a path of Debian's slapd",
    ("testExtensions", "test_start_tls_extension"): _TLS,
    ("testExtensions", "test_get_replica_list_extension"): _EDIRECTORY,
    ("testExtensions", "test_get_bind_dn_extension"): _EDIRECTORY,
    ("testExtendedOperations", "test_get_bind_dn_extension"): _EDIRECTORY,
    ("testExtendedOperations", "test_novell_list_replicas"): _EDIRECTORY,
    ("testExtendedOperations", "test_novell_replica_info"): _EDIRECTORY,
    ("testExtendedOperations", "test_novell_partition_entry_count"): _EDIRECTORY,
    ("testExtendedOperations", "test_novell_get_universal_password"): _EDIRECTORY,
    ("testRebindOperation", "test_bind_sasl_digest_md5_to_secondary_sasl_user"): _SASL,
    ("testRebindOperation", "test_ntlm"): _SASL,
    ("testSearchOperation", "test_search_extensible_match"): _EDIRECTORY,
    ("testSearchOperation", "test_search_string_guid"): _EDIRECTORY,
    ("testSearchOperationEntries", "test_search_extensible_match"): _EDIRECTORY,
    ("testSearchOperationJSON", "test_search_extensible_match"): _EDIRECTORY,
}


@dataclass(frozen=True)
class Plan:
    """A module to run, and its left-out tests."""

    module: str
    left_out: tuple[str, ...]


def plans(modules: list[str]) -> list[Plan]:
    """Return the plans of `modules`, in their order."""
    return [
        Plan(module, tuple(test for of, test in EXCLUDED_TESTS if of == module))
        for module in modules
        if module not in EXCLUDED_MODULES
    ]
