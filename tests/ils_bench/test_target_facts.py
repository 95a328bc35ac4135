"""What a manifest knows of a directory: version and configuration, as far as it tells."""

from ils_bench.options import IlsOptions
from ils_bench.targets.live import open_live
from ils_bench.targets.opening import open_target
from ils_bench.targets.target import OpenDirectory
from tests.ils_bench.conftest import LOCALES


def test_slapd_gives_its_version_and_its_configuration(openldap: OpenDirectory) -> None:
    assert openldap.facts["version"].startswith("OpenLDAP: slapd 2.")
    lines = openldap.facts["configuration"].splitlines()
    assert "dbnosync" in lines
    assert 'directory ".../db"' in lines, "a folder that is another one each time is no fact"


def test_the_embedded_directory_gives_its_settings() -> None:
    with open_target(IlsOptions(entries=100, locales=LOCALES, target_threads=2), 100) as target:
        assert target.facts["version"].startswith("sitebench ")
        assert target.facts["configuration"]["threads"] == 2
        assert "port" not in target.facts["configuration"]


def test_a_foreign_directory_gives_what_its_root_dse_has(openldap: OpenDirectory) -> None:
    options = IlsOptions(target=str(openldap.address), base=openldap.base)
    facts = open_live(options).facts
    assert "3" in facts["supportedLDAPVersion"].split(", ")
    assert "OpenLDAProotDSE" in facts["objectClass"]
