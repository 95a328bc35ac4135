"""The files of deploy/ are valid for Compose, Kubernetes and sitebench."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.docs.cli_page import ROOT
from tests.docs.shown import parse

DEPLOY = ROOT / "deploy"
NETWORK = DEPLOY / "kubernetes" / "network.yaml"
MANIFESTS = sorted(p for p in (DEPLOY / "kubernetes").glob("*.yaml") if p.stem != "kustomization")


def documents(path: Path) -> list[Any]:
    """Read every document of a file; a repeated key is an error."""
    return list(YAML(typ="safe").load_all(path.read_text()))


def checked(*command: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def containers() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in MANIFESTS:
        for each in documents(path):
            spec = each.get("spec", {})
            pod = spec.get("template", {}).get("spec") or spec
            found |= {one["name"]: one for one in pod.get("containers", [])}
    return found


def test_deploy_folder_passes_yamllint() -> None:
    checked("yamllint", "--strict", "-c", "deploy/.yamllint", "deploy")


def test_docker_compose_accepts_the_compose_file() -> None:
    checked("check_jsonschema", "--builtin-schema", "vendor.compose-spec", "deploy/compose.yaml")


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
    [compose] = documents(DEPLOY / "compose.yaml")
    for name, service in compose["services"].items():
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


def test_kustomization_lists_every_manifest_except_that_of_the_reader() -> None:
    [kustomization] = documents(DEPLOY / "kubernetes/kustomization.yaml")
    named = set(kustomization["resources"])
    assert named == {path.name for path in MANIFESTS} - {"reader.yaml"}


def test_master_waits_for_as_many_workers_as_replicas() -> None:
    [kustomization] = documents(DEPLOY / "kubernetes/kustomization.yaml")
    [replicas] = kustomization["replicas"]
    [values] = kustomization["configMapGenerator"]
    assert f"WORKERS={replicas['count']}" in values["literals"]


def test_arguments_of_pods_are_valid_commands() -> None:
    values = {"WORKERS": "2", "TARGET": "ldap://there:389", "SIZES": "1k", "POD_IP": "10.0.0.1"}
    for name in ("master", "worker", "directory"):
        argv = containers()[name]["args"]
        for variable, value in values.items():
            argv = [part.replace(f"$({variable})", value) for part in argv]
        parse(argv)


def test_arguments_of_compose_services_are_valid_commands() -> None:
    [compose] = documents(DEPLOY / "compose.yaml")
    values = {"${WORKERS:-2}": "2", "${TARGET:-ldap://directory:10389}": "ldap://directory:10389"}
    values["${SIZES:-1k,10k}"] = "1k,10k"
    for service in compose["services"].values():
        argv = service["command"]
        for variable, value in values.items():
            argv = [part.replace(variable, value) for part in argv]
        parse(argv)


HADOLINT = str(Path(sys.executable).with_name("hadolint"))


def linted(dockerfile: Path) -> subprocess.CompletedProcess[str]:
    argv = [HADOLINT, "--no-color", str(dockerfile)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_dockerfile_passes_hadolint(tmp_path: Path) -> None:
    ran = linted(DEPLOY / "Dockerfile")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    wrong = tmp_path / "Dockerfile"
    wrong.write_text((DEPLOY / "Dockerfile").read_text().replace("WORKDIR /source", "RUN cd /s"))
    assert "DL3003" in linted(wrong).stdout


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_image_is_built_and_its_commands_run() -> None:
    docker = shutil.which("docker")
    if (
        docker is None
        or subprocess.run([docker, "info"], capture_output=True, check=False).returncode
    ):
        pytest.skip("no container daemon answers")
    built = [docker, "build", "--quiet", "-f", "deploy/Dockerfile", "."]
    ran = subprocess.run(built, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    argv = [docker, "run", "--rm", ran.stdout.strip(), "ils", "run", "lookup", "--measure", "1s"]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_dockerfile_copies_existing_files() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    copies = [line for line in lines if line.startswith("COPY") and "--from" not in line]
    sources = [source for line in copies for source in line.split()[1:-1]]
    assert "native" in sources
    for source in sources:
        assert any(ROOT.glob(source)), source
