"""Facts of rule 12 of the method in the manifest, and the earlier facts of a resumed run."""

import json
from pathlib import Path

import psutil
import pytest

from sitebench.errors import BadInput
from sitebench.runs.manifest import SYSCTLS, collect, resume_facts
from sitebench.runs.point import METHOD
from sitebench.runs.store import RunStore


def test_manifest_has_the_facts_of_rule_12() -> None:
    facts = collect(["ils", "sweep"], {"population": {"digest": "d"}})
    assert facts["command"] == ["sitebench", "ils", "sweep"]
    assert facts["population"] == {"digest": "d"}
    assert {"python", "sitebench", "locust", "sqlite"} <= facts["versions"].keys()
    assert facts["cpu"]["cores"] == psutil.cpu_count()
    assert facts["memory_bytes"] == psutil.virtual_memory().total
    assert Path("/proc/sys/kernel/osrelease").read_text().strip() in facts["kernel"]
    assert len(facts["sysctls"]) == len(SYSCTLS)
    assert facts["sysctls"]["vm.swappiness"] == Path("/proc/sys/vm/swappiness").read_text().strip()
    assert {"open_files", "group_cores", "group_memory_bytes"} <= facts["limits"].keys()
    assert {"governor", "turbo", "mitigations", "siblings"} <= facts["cpu"].keys()
    assert {"clock", "system", "virtualisation", "huge_pages", "started"} <= facts.keys()
    assert json.loads(json.dumps(facts))


def test_facts_that_differ_in_a_resumed_run_are_kept_as_earlier_facts() -> None:
    first = collect([], {"sizes": (1, 2)})
    assert resume_facts({}, first) == json.loads(json.dumps(first))
    second = first | {"kernel": "Linux 7", "started": "later"}
    third = second | {"started": "latest"}
    now = resume_facts(resume_facts(resume_facts({}, first), second), third)
    assert now["kernel"] == "Linux 7"
    assert now["earlier"] == [
        {"started": first["started"], "kernel": first["kernel"]},
        {"started": "later"},
    ]


def test_every_target_is_described_once(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        for version in ("2.5", "2.5", "2.6", "2.5"):
            store.add_target({"name": "openldap", "version": version})
        assert [each["version"] for each in store.manifest()["targets"]] == ["2.5", "2.6"]


def test_run_of_another_method_is_not_continued() -> None:
    """Its points would stand beside points with another meaning."""
    older = {"command": ["sitebench", "ils", "run"]}
    with pytest.raises(BadInput, match="version 1 of the method, and this sitebench has version"):
        resume_facts(older, collect([]))
    assert resume_facts(collect([]), collect([]))["method"] == METHOD
