"""The files for users with Docker stay valid, and name what the project really has."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from cognigraph.cli.parser import build_parser
from tests.servers.neo4j_server import LINES

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"


def test_compose_runs_a_supported_neo4j_on_this_machine_only() -> None:
    compose = yaml.safe_load((DOCKER / "compose.yaml").read_text("utf-8"))
    neo4j = compose["services"]["neo4j"]
    pom = (ROOT / "tests" / "servers" / "pom.xml").read_text("utf-8")
    (tested,) = re.findall(r"<neo4j\.version>(.+)</neo4j\.version>", pom)
    assert neo4j["image"] == f"${{NEO4J_IMAGE:-neo4j:{tested}-community}}"
    assert tested.rpartition(".")[0] in LINES
    assert all(port.startswith("127.0.0.1:") for port in neo4j["ports"])
    assert neo4j["healthcheck"]["test"][0] == "CMD-SHELL"
    (volume,) = (entry.split(":")[0] for entry in neo4j["volumes"])
    assert volume in compose["volumes"]
    assert neo4j["environment"]["NEO4J_db_memory_transaction_max"].endswith(":-256m}")
    password = re.search(r"NEO4J_PASSWORD:-(\w+)", neo4j["environment"]["NEO4J_AUTH"])
    assert password is not None
    assert len(password[1]) >= 8  # Neo4j refuses shorter ones
    assert f"--auth neo4j:{password[1]} " in (ROOT / "docs" / "neo4j.md").read_text("utf-8")


def test_the_server_runs_without_rights_and_for_this_machine_only() -> None:
    compose = yaml.safe_load((DOCKER / "compose.server.yaml").read_text("utf-8"))
    server, neo4j = compose["services"]["server"], compose["services"]["neo4j"]
    assert neo4j == {"extends": {"file": "compose.yaml", "service": "neo4j"}}
    assert server["depends_on"] == {"neo4j": {"condition": "service_healthy"}}
    assert server["read_only"] is True
    assert server["cap_drop"] == ["ALL"]
    assert server["security_opt"] == ["no-new-privileges:true"]
    assert "ports" not in server  # only through the balancer
    uid = server["user"].split(":")[0]
    assert f"useradd --uid {uid} " in (DOCKER / "Dockerfile").read_text("utf-8")
    arguments = build_parser().parse_args(server["command"])
    worker = 10
    assert int(server["stop_grace_period"].rstrip("s")) > arguments.drain + arguments.grace + worker
    assert f":{arguments.port}/ready" in server["healthcheck"]["test"][-1]
    used = {entry.split(":")[0] for entry in server["volumes"]}
    assert used <= compose["volumes"].keys()
    written = {
        server["environment"]["TMPDIR"],
        str(Path(server["environment"]["COGNIGRAPH_KEYS"]).parent),
    }
    assert written == {entry.split(":")[1] for entry in server["volumes"]}
    assert {"COGNIGRAPH_DB", "COGNIGRAPH_AUTH", "COGNIGRAPH_KEYS"} <= server["environment"].keys()


def test_the_balancer_leaves_out_a_server_before_it_refuses() -> None:
    compose = yaml.safe_load((DOCKER / "compose.server.yaml").read_text("utf-8"))
    balancer, server = compose["services"]["balancer"], compose["services"]["server"]
    assert all(port.startswith("127.0.0.1:") for port in balancer["ports"])
    assert balancer["read_only"] is True and balancer["cap_drop"] == ["ALL"]
    (config,) = balancer["configs"]
    text = (DOCKER / compose["configs"][config["source"]]["file"]).read_text("utf-8")
    arguments = build_parser().parse_args(server["command"])
    published = balancer["ports"][0].rpartition(":")[2]
    assert f"  bind :{published}\n" in text
    assert "  option httpchk GET /ready\n" in text
    most, port = re.findall(r"server-template server (\d+) server:(\d+)", text)[0]
    assert int(port) == arguments.port
    replicas = re.fullmatch(r"\$\{COGNIGRAPH_REPLICAS:-(\d+)\}", server["deploy"]["replicas"])
    assert replicas is not None and 1 < int(replicas[1]) <= int(most)
    every, times = re.findall(r"check inter (\d+)s fall (\d+)", text)[0]
    assert int(every) * int(times) < arguments.drain


def test_the_image_has_extras_that_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = re.search(
        r"^ARG EXTRAS=(\S+)$", (DOCKER / "Dockerfile").read_text("utf-8"), re.MULTILINE
    )
    assert extras is not None
    assert {"server", "mcp"} <= set(extras[1].split(","))
    assert set(extras[1].split(",")) <= project["project"]["optional-dependencies"].keys()


def test_the_image_is_built_on_one_exact_version() -> None:
    lines = (DOCKER / "Dockerfile").read_text("utf-8").splitlines()
    (image,) = (line.partition("=")[2] for line in lines if line.startswith("ARG PYTHON_IMAGE="))
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", image)
    assert {line.split()[1] for line in lines if line.startswith("FROM ")} == {"$PYTHON_IMAGE"}


def test_dockerfile_copies_what_exists_and_runs_the_command() -> None:
    dockerfile = (DOCKER / "Dockerfile").read_text("utf-8")
    for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.MULTILINE):
        for name in [word for word in line.split() if not word.startswith("--")][:-1]:
            assert (ROOT / name).exists(), name
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (script,) = project["project"]["scripts"]
    assert f'ENTRYPOINT ["{script}"' in dockerfile
    assert re.search(r"^USER (?!root)", dockerfile, re.MULTILINE)


@pytest.mark.parametrize("engine", [None, "exit 1"], ids=["no command", "no engine"])
def test_the_check_is_skipped_with_a_reason_where_there_is_no_engine(
    tmp_path: Path, engine: str | None
) -> None:
    """With a command line that has no Docker, or one whose engine does not answer."""
    for tool in ("bash", "dirname", "env"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or tool)
    if engine is not None:
        (tmp_path / "docker").write_text(f"#!/bin/sh\necho 'cannot connect' >&2\n{engine}\n")
        (tmp_path / "docker").chmod(0o755)
    done = subprocess.run(
        [DOCKER / "check"], env={"PATH": str(tmp_path)}, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    reason = "the docker command is not installed"
    if engine is not None:
        reason = "no Docker engine answers: cannot connect"
    assert done.stdout == f"docker: skipped, {reason}\n"
