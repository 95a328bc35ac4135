"""The files of deploy/ are valid for Compose, Kubernetes and sitebench."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.docs.cli_page import ROOT
from tests.docs.shown import parse
from tests.support.programs import run_program

DEPLOY = ROOT / "deploy"
NETWORK = DEPLOY / "kubernetes" / "network.yaml"
MANIFESTS = sorted(p for p in (DEPLOY / "kubernetes").glob("*.yaml") if p.stem != "kustomization")


def documents(path: Path) -> list[Any]:
    """Read every document of a file; a repeated key is an error."""
    return list(YAML(typ="safe").load_all(path.read_text()))


def document(path: Path) -> Any:
    (only,) = documents(path)
    return only


def checked(*command: str) -> None:
    ran = run_program([sys.executable, "-m", *command], cwd=ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def containers() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in MANIFESTS:
        for each in documents(path):
            spec = each.get("spec", {})
            pod = spec.get("template", {}).get("spec") or spec
            found |= {one["name"]: one for one in pod.get("containers", [])}
    return found


def test_manifests_match_the_kubernetes_schema() -> None:
    assert len(MANIFESTS) > 1
    checked("kubernetes_validate", "--strict", *map(str, MANIFESTS))


def test_invalid_manifest_is_detected(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    text = (DEPLOY / "kubernetes/workers.yaml").read_text()
    wrong.write_text(text.replace("replicas: 2", "replica: 2"))
    with pytest.raises(AssertionError, match="replica"):
        checked("kubernetes_validate", "--strict", str(wrong))


def test_containers_have_no_privileges() -> None:
    for name, container in containers().items():
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"] is True, name
        assert context["allowPrivilegeEscalation"] is False, name
        assert context["capabilities"] == {"drop": ["ALL"]}, name
        # The files in sitebench's home and its temporary files need a writable place.
        assert {"name": "HOME", "value": "/tmp"} in container["env"], name
        assert "/tmp" in {each["mountPath"] for each in container["volumeMounts"]}, name
    for name, service in document(DEPLOY / "compose.yaml")["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["tmpfs"] == ["/tmp"], name


def test_network_policy_closes_master_and_directory_to_other_pods() -> None:
    policies = {each["metadata"]["name"]: each["spec"] for each in documents(NETWORK)}
    labels = [
        pod["metadata"]["labels"]
        for path in MANIFESTS
        for each in documents(path)
        if (pod := each.get("spec", {}).get("template")) is not None
    ]
    everyone = policies["sitebench"]
    assert "ingress" not in everyone
    assert len(labels) == 3
    assert all(everyone["podSelector"]["matchLabels"].items() <= each.items() for each in labels)
    (master,) = policies["sitebench-master"]["ingress"]
    (allowed,) = master["from"]
    who = allowed["podSelector"]["matchLabels"]
    assert [each for each in labels if who.items() <= each.items()] == [
        {"app.kubernetes.io/name": "sitebench", "app.kubernetes.io/component": "worker"}
    ]


def test_kustomization_has_every_manifest_and_a_master_that_waits_for_all_replicas() -> None:
    kustomization = document(DEPLOY / "kubernetes/kustomization.yaml")
    resources = set(kustomization["resources"])
    assert resources == {path.name for path in MANIFESTS} - {"reader.yaml"}
    [replicas] = kustomization["replicas"]
    [values] = kustomization["configMapGenerator"]
    assert f"WORKERS={replicas['count']}" in values["literals"]


def test_arguments_of_pods_and_services_are_valid_commands() -> None:
    values = {"$(WORKERS)": "2", "$(TARGET)": "ldap://there:389", "$(SIZES)": "1k"}
    values |= {"$(POD_IP)": "10.0.0.1", "${WORKERS:-2}": "2", "${SIZES:-1k,10k}": "1k,10k"}
    values["${TARGET:-ldap://directory:10389}"] = "ldap://directory:10389"
    pods = [containers()[name]["args"] for name in ("master", "worker", "directory")]
    services = document(DEPLOY / "compose.yaml")["services"].values()
    for argv in (*pods, *(service["command"] for service in services)):
        command = "\n".join(argv)
        for variable, value in values.items():
            command = command.replace(variable, value)
        parse(command.split("\n"))


def test_dockerfile_passes_hadolint(tmp_path: Path) -> None:
    dockerfile, wrong = DEPLOY / "Dockerfile", tmp_path / "Dockerfile"
    wrong.write_text(dockerfile.read_text().replace("WORKDIR /source", "RUN cd /s"))
    hadolint = [Path(sys.executable).with_name("hadolint"), "--no-color"]
    ran = run_program([*hadolint, dockerfile])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "DL3003" in run_program([*hadolint, wrong]).stdout


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_image_is_built_and_its_commands_run() -> None:
    docker = shutil.which("docker")
    if docker is None or run_program([docker, "info"]).returncode:
        pytest.skip("no container daemon answers")
    ran = run_program([docker, "build", "--quiet", "-f", "deploy/Dockerfile", "."], cwd=ROOT)
    assert ran.returncode == 0, ran.stderr
    image = ran.stdout.strip()
    ran = run_program([docker, "run", "--rm", image, "ils", "run", "lookup", "--measure", "1s"])
    assert ran.returncode == 0, ran.stderr


def test_dockerfile_copies_existing_files() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    copies = [line for line in lines if line.startswith("COPY") and "--from" not in line]
    sources = [source for line in copies for source in line.split()[1:-1]]
    assert "native" in sources
    for source in sources:
        assert any(ROOT.glob(source)), source
