"""The containers, as far as can be said without an engine: well formed, pinned, unprivileged, and free of keys."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import ROOT

DOCKER = ROOT / "docker"
DOCKERFILE = (DOCKER / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((DOCKER / "compose.yaml").read_text())


def tool(name, *arguments):
    """Run a program that is installed beside this Python; it must succeed."""
    done = subprocess.run(
        [Path(sys.executable).parent / name, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement_lines():
    lines = (DOCKER / "requirements.txt").read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


def test_the_compose_file_follows_the_specification():
    tool("check-jsonschema", "--builtin-schema", "vendor.compose-spec", str(DOCKER / "compose.yaml"))


def test_the_dockerfile_passes_its_linter():
    tool("hadolint", str(DOCKER / "Dockerfile"))


def test_the_script_is_a_program_without_syntax_errors():
    script = DOCKER / "up"
    assert script.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", script], check=True)


def test_every_base_image_is_pinned():
    stages, bases = set(), []
    for base, stage in re.findall(r"^FROM (\S+)(?: AS (\S+))?$", DOCKERFILE, re.MULTILINE):
        if base not in stages:
            bases.append(base)
        stages.add(stage)
    assert bases
    for base in bases:
        tag = base.rpartition("/")[2].partition(":")[2]
        assert re.search(r"\d+\.\d+", tag), f"{base} names no exact release"


def test_every_package_is_pinned():
    for line in filter(None, requirement_lines()):
        assert re.fullmatch(r"[a-z0-9-]+==\d+(\.\d+)+", line), line
    for name in re.findall(r"pip install --no-cache-dir ([^-\s]\S*)", DOCKERFILE):
        assert "==" in name, f"{name} in the Dockerfile is not pinned"


def test_the_first_requirements_are_those_of_the_project_and_no_others():
    project = (ROOT / "pyproject.toml").read_text()
    declared = re.search(r"^dependencies = \[(.*?)^\]", project, re.MULTILINE | re.DOTALL).group(1)
    least = dict(re.findall(r'"([\w.-]+)>=([\d.]+)(?:,<[\d.]+)?"', declared))
    assert len(least) == declared.count('"') // 2, "a dependency is not of the form name>=version"
    lines = requirement_lines()
    pinned = dict(line.split("==") for line in lines[: lines.index("")])
    assert sorted(pinned) == sorted(canonical(name) for name in least)

    def parts(version):
        return tuple(map(int, version.split(".")))

    for name, version in least.items():
        assert parts(pinned[canonical(name)]) >= parts(version), name


def test_the_image_runs_as_nobody_in_particular():
    last_stage = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    users = re.findall(r"^USER (\S+)", last_stage, re.MULTILINE)
    assert users
    assert users[-1].partition(":")[0] not in ("root", "0")
    assert '\nENTRYPOINT ["robonet"]' in last_stage


@pytest.mark.parametrize("name", ["network", "robots"])
def test_a_service_has_no_more_rights_than_it_needs(name):
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["restart"] == "no"
    assert {"cpus", "memory", "pids"} <= service["deploy"]["resources"]["limits"].keys()
    assert "test" in service["healthcheck"]
    assert not {"ports", "privileged", "cap_add", "network_mode", "user"} & service.keys()
    assert [COMPOSE["networks"][network] for network in service["networks"]] == [{"internal": True}]
    for volume in service["volumes"]:
        source = re.sub(r"\$\{\w+:-(.*?)\}", r"\1", volume).split(":")[0]
        assert source in COMPOSE["volumes"] or volume.endswith(":ro"), f"{volume}: the host's files can be changed"


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("network", {"network.key_secret", "robots.key"}),
        ("robots", {"robots.key_secret", "network.key"}),
    ],
)
def test_each_side_is_given_its_own_secret_and_the_others_public_key(name, files):
    given = {secret["target"]: secret["source"] for secret in COMPOSE["services"][name]["secrets"]}
    assert set(given) == files
    for target, source in given.items():
        assert COMPOSE["secrets"][source] == {"file": f"keys/{target}"}


def test_no_key_is_in_the_repository_or_in_the_image():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert not [path for path in listed.stdout.splitlines() if path.endswith((".key", ".key_secret"))]
    assert "docker/keys/" in (ROOT / ".gitignore").read_text().splitlines()
    patterns = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert patterns[0] == "*", "what goes into the image is named, file by file"
    assert not [pattern for pattern in patterns if pattern.startswith("!") and "key" in pattern]
    assert not {"!docker", "!.", "!*", "!**"} & set(patterns)
