"""The Helm chart: what it renders is valid for Kubernetes and fits the server and the image.

The renderings are files, which a change of the chart makes invalid, so this needs no Helm. Where
there is one, they are made anew and compared, and what the chart refuses is tried.
"""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from cognigraph.cli.parser import build_parser
from tests.cases import each
from tests.chart import CASES, CHART, DATA, ROOT, heading, helm, rendered, values

KUBERNETES = ("1.27", "1.37")
"""The oldest that the chart takes, and the newest whose schemas there are."""
needs_helm = pytest.mark.skipif(
    helm() is None, reason="no Helm (make chart installs it); the kept renderings are tested"
)


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C, where there is one, takes a tenth of the time."""


def by_name(text: str) -> dict[str, dict[str, Any]]:
    """The objects of a rendering, by kind and name."""
    found = [item for item in yaml.load_all(text, LOADER) if item]
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in found}


@cache
def objects(case: str) -> dict[str, dict[str, Any]]:
    """What a kept rendering has. No test changes it."""
    return by_name((DATA / f"{case}.rendered.yaml").read_text("utf-8"))


def server_of(case: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The pod of the server and its only container."""
    pod = objects(case)["Deployment/memory-cognigraph"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    return pod, container


@pytest.mark.parametrize("case", CASES)
def test_the_renderings_are_of_this_chart(case: str) -> None:
    first = (DATA / f"{case}.rendered.yaml").read_text("utf-8").partition("\n")[0] + "\n"
    assert first == heading(case), "the chart has changed: make chart"


@pytest.mark.slow
@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize("case", CASES)
def test_kubernetes_takes_the_renderings(case: str, version: str) -> None:
    import kubernetes_validate  # takes two seconds, which every process that collects would pay

    found = objects(case)
    for item in found.values():
        kubernetes_validate.validate(item, version, strict=True)
    broken = json.loads(json.dumps(found["Service/memory-cognigraph"]))
    broken["spec"]["prots"] = []
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, version, strict=True)


@pytest.mark.slow
def test_each_set_up_has_what_it_needs() -> None:
    name = "memory-cognigraph"
    common = {f"Deployment/{name}", f"Service/{name}"}
    several = {f"PodDisruptionBudget/{name}", f"Secret/{name}"}
    assert objects("sqlite").keys() == common | {
        f"PersistentVolumeClaim/{name}", f"Ingress/{name}"
    }  # fmt: skip
    assert objects("neo4j").keys() == common | several | {f"Ingress/{name}"}
    started = {f"StatefulSet/{name}-neo4j", f"Service/{name}-neo4j"}
    assert objects("started").keys() == common | several | started
    for case, replicas, strategy in (("sqlite", 1, "Recreate"), ("neo4j", 3, "RollingUpdate")):
        spec = objects(case)[f"Deployment/{name}"]["spec"]
        assert (spec["replicas"], spec["strategy"]["type"]) == (replicas, strategy)


@pytest.mark.parametrize("case", CASES)
def test_the_server_has_no_rights_and_time_to_end(case: str) -> None:
    pod, container = server_of(case)
    assert pod["securityContext"]["runAsNonRoot"] is True
    uid = pod["securityContext"]["runAsUser"]
    assert f"useradd --uid {uid} " in (ROOT / "docker" / "Dockerfile").read_text("utf-8")
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["automountServiceAccountToken"] is False
    arguments = build_parser().parse_args(container["args"])
    assert (arguments.command, arguments.host) == ("serve", "0.0.0.0")
    ten_for_the_worker = 10
    assert pod["terminationGracePeriodSeconds"] > (
        arguments.drain + arguments.grace + ten_for_the_worker
    )
    (port,) = container["ports"]
    assert port == {"name": "http", "containerPort": arguments.port}
    probes = {
        name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")
    }
    assert probes["readiness"] == {"path": "/ready", "port": "http"}
    assert probes["startup"] == probes["liveness"] == {"path": "/health", "port": "http"}
    noticed = (
        container["readinessProbe"]["periodSeconds"]
        * container["readinessProbe"]["failureThreshold"]
    )
    assert noticed < arguments.drain  # the cluster turns to others while this one still answers
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}


@pytest.mark.parametrize("case", CASES)
def test_variables_and_secrets_are_known(case: str) -> None:
    found = objects(case)
    pod, container = server_of(case)
    variables = {item["name"]: item for item in container["env"]}
    reference = (ROOT / "docs" / "operations.md").read_text("utf-8") + build_parser().format_help()
    for name in variables.keys() - {"TMPDIR", "DATABASE_PASSWORD", "FORWARDED_ALLOW_IPS"}:
        assert name in reference, name
    asked = {
        (item["valueFrom"]["secretKeyRef"]["name"], item["valueFrom"]["secretKeyRef"]["key"])
        for item in container["env"]
        if "valueFrom" in item
    }
    (keys,) = (item["secret"] for item in pod["volumes"] if item["name"] == "keys")
    assert variables["COGNIGRAPH_KEYS"]["value"] == f"/keys/{keys['items'][0]['path']}"
    asked.add((keys["secretName"], keys["items"][0]["key"]))
    if case == "sqlite":
        assert asked == {("memory-secret", "keys"), ("memory-secret", "model-key")}
        assert variables["COGNIGRAPH_DB"]["value"] == "/data/memory.db"
        return
    secret = found["Secret/memory-cognigraph"]
    assert asked == {(secret["metadata"]["name"], key) for key in secret["data"]}
    assert base64.b64decode(secret["data"]["neo4j-password"]) == b"password-of-neo4j"
    user = {"neo4j": "memory", "started": "neo4j"}[case]
    assert variables["COGNIGRAPH_AUTH"]["value"] == f"{user}:$(DATABASE_PASSWORD)"
    order = [item["name"] for item in container["env"]]
    assert order.index("DATABASE_PASSWORD") < order.index(
        "COGNIGRAPH_AUTH"
    )  # or it is not filled in


def test_the_servers_find_the_neo4j_that_is_started() -> None:
    found = objects("started")
    _, container = server_of("started")
    address = next(item["value"] for item in container["env"] if item["name"] == "COGNIGRAPH_DB")
    (name, port) = re.findall(r"^bolt://(.+):(\d+)$", address)[0]
    service = found[f"Service/{name}"]["spec"]
    assert [item["port"] for item in service["ports"]] == [int(port)]
    stateful = found[f"StatefulSet/{name}"]["spec"]
    labels = stateful["template"]["metadata"]["labels"]
    assert service["selector"].items() <= labels.items()
    assert stateful["selector"]["matchLabels"].items() <= labels.items()
    others = found["Deployment/memory-cognigraph"]["spec"]["template"]["metadata"]["labels"]
    assert not service["selector"].items() <= others.items()
    assert not found["Service/memory-cognigraph"]["spec"]["selector"].items() <= labels.items()
    compose = yaml.load((ROOT / "docker" / "compose.yaml").read_text("utf-8"), LOADER)
    (neo4j,) = stateful["template"]["spec"]["containers"]
    assert compose["services"]["neo4j"]["image"] == f"${{NEO4J_IMAGE:-{neo4j['image']}}}"
    ours = {item["name"] for item in neo4j["env"]} - {"DATABASE_PASSWORD"}
    assert ours <= compose["services"]["neo4j"]["environment"].keys()


@pytest.mark.slow
def test_the_schema_takes_the_defaults_and_nothing_misspelled() -> None:
    import jsonschema  # takes two seconds, which every process that collects would pay

    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    defaults = yaml.load((CHART / "values.yaml").read_text("utf-8"), LOADER)
    check = jsonschema.Draft7Validator(schema)
    assert not list(check.iter_errors(defaults))
    assert schema["properties"].keys() - {"global"} == defaults.keys()
    for wrong in (
        {"replica": 3}, {"replicas": 0}, {"store": "postgres"}, {"drain": "10s"},
        {"uploads": "4GB"}, {"secret": {"neo4jPassword": "short"}}, {"neo4j": {"uri": "https://graph.example"}},
    ):  # fmt: skip
        assert list(check.iter_errors({**defaults, **wrong})), wrong


def test_the_page_sets_values_that_there_are() -> None:
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    defaults = yaml.load((CHART / "values.yaml").read_text("utf-8"), LOADER)
    named = re.findall(r"--set ([\w.]+)=", page)
    assert len(named) >= 5
    for name in named:
        values = defaults
        for part in name.split("."):
            values = values[part]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "several servers on a file": ({"replicas": 2}, "replicas is 2, but a SQLite file serves the "
                                  "processes of one machine only"),
    "no image": ({"image": {"repository": ""}}, "image.repository is empty: build"),
    "no keys": ({"secret": {"keys": ""}}, "the server does not start without a key"),
    "two secrets": ({"secret": {"existing": "s", "keys": "Y2c="}}, "so the chart makes none"),
    "no Neo4j": ({"store": "neo4j"}, "set neo4j.uri to your server, or neo4j.start to true"),
    "two Neo4js": ({"store": "neo4j", "neo4j": {"start": True, "uri": "bolt://x"}},
                   "set one of them"),
    "Neo4j for SQLite": ({"neo4j": {"start": True}}, "set store to neo4j"),
    "no password": ({"store": "neo4j", "neo4j": {"start": True}, "secret": {"keys": "Y2c="}},
                    "set secret.neo4jPassword"),
    "no host": ({"ingress": {"enabled": True}}, "set ingress.host"),
    "unknown value": ({"replica": 2}, "replica"),
}  # fmt: skip


@needs_helm
@pytest.mark.parametrize("case", CASES)
def test_the_renderings_are_what_helm_makes(case: str) -> None:
    done = rendered(values(case))
    assert done.returncode == 0, done.stderr
    assert by_name(done.stdout) == objects(case)


@needs_helm
@each("what", REFUSED)
def test_what_cannot_work_is_refused_with_the_reason(what: str, tmp_path: Path) -> None:
    changed, reason = REFUSED[what]
    fine = {"image": {"repository": "x"}, "secret": {"keys": "Y2c="}}
    (tmp_path / "values.yaml").write_text(json.dumps({**fine, **changed}))
    done = rendered(tmp_path / "values.yaml")
    assert done.returncode != 0
    assert reason in done.stderr
