"""A real Neo4j for the tests, from whatever the machine has.

In order of preference: a server named in the environment, a container through testcontainers
(when a Docker engine answers), or the kernel from Maven Central started by `Launcher.java`.

    with running_server("5.26") as server:
        driver = GraphDatabase.driver(server.uri, auth=server.auth)

Environment, read when `resolve` is called:

- ``COGNIGRAPH_TEST_NEO4J_URI`` for line "5.26", ``COGNIGRAPH_TEST_NEO4J_URI_2026`` for line "2026"
- ``COGNIGRAPH_TEST_NEO4J_USER`` (default ``neo4j``) and ``COGNIGRAPH_TEST_NEO4J_PASSWORD``; each
  may carry the suffix ``_2026`` too. Without a password, authentication is off. The tests delete
  what is in such a server.

By hand: ``python -m tests.servers.neo4j_server 5.26`` prints a URI and serves until Ctrl-C;
``--heap 2g --page-cache 2g`` gives it the memory that the benches are run with, and
``--short-lived`` starts it as the tests do, with the quick compiler only, ``--folder DIR``
keeps its data for the next start with the same folder, ``--setting key=value`` adds a line to
its configuration, and ``--java=OPTION`` an option of Java.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError

if TYPE_CHECKING:
    from types import FrameType

Auth = tuple[str, str]
Source = Literal["env", "docker", "maven"]

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache" / "neo4j"
START_TIMEOUT = 300.0
RESOLVE_TIMEOUT = 900.0


@dataclass(frozen=True)
class Sizes:
    """Memory of a server that is started here, and whether it lives for one test run only.

    The data of a server with a ``folder`` is kept.
    """

    heap: str = "1g"
    page_cache: str = "128m"
    short_lived: bool = True
    folder: Path | None = None
    settings: tuple[str, ...] = ()
    """Further lines of neo4j.conf."""
    java: tuple[str, ...] = ()
    """Further options of Java."""


@dataclass(frozen=True)
class Line:
    """A supported release line: the release that stands for it, and the Javas that run it."""

    release: str
    java: tuple[int, ...]
    env_suffix: str


# From the oldest to the newest.
LINES: Mapping[str, Line] = {
    "5.26": Line(release="5.26.24", java=(17, 21), env_suffix=""),
    "2026": Line(release="2026.05.0", java=(25,), env_suffix="_2026"),
}


class ServerError(RuntimeError):
    """No server could be had: the message says which ways were tried and why each failed."""


@dataclass(frozen=True)
class Unavailable:
    """There is no way to run this line here; `reason` is fit for a skip message."""

    version: str
    reason: str


@dataclass(frozen=True)
class External:
    """A server somebody else runs. Tests must not assume that it is empty."""

    version: str
    uri: str
    auth: Auth | None = field(repr=False)
    source: Literal["env"] = "env"


@dataclass(frozen=True)
class Container:
    """A container to be started from the official image."""

    version: str
    image: str
    source: Literal["docker"] = "docker"


@dataclass(frozen=True)
class Local:
    """A Java process to be started from the artifacts on Maven Central."""

    version: str
    release: str
    java: Path
    maven: Path
    source: Literal["maven"] = "maven"


Resolved = External | Container | Local


@dataclass(frozen=True)
class Server:
    """A server that has answered. `version` is what it calls itself, such as "5.26.24"."""

    uri: str
    auth: Auth | None = field(repr=False)
    version: str
    source: Source
    pid: int | None = None


def resolve(version: str) -> Resolved | Unavailable:
    """Say how the line `version` ("5.26" or "2026") would be run here. Starts nothing."""
    line = LINES.get(version)
    if line is None:
        return Unavailable(version, f"unknown line {version!r}; known: {', '.join(LINES)}")
    external = _from_environment(version, line)
    if external is not None:
        return external
    no_docker = _why_no_docker()
    if no_docker is None:
        return Container(version, f"neo4j:{line.release}-community")
    java = _find_java(line.java)
    maven = shutil.which("mvn")
    missing = [] if maven else ["no mvn on PATH"]
    if java is None:
        missing.append(f"no JDK {' or '.join(map(str, line.java))} found")
    if java is None or maven is None:
        variable = f"COGNIGRAPH_TEST_NEO4J_URI{line.env_suffix}"
        reasons = "; ".join([f"{variable} is not set", no_docker, *missing])
        return Unavailable(version, f"no Neo4j {version}: {reasons}")
    return Local(version, line.release, java, Path(maven))


@contextmanager
def running_server(version: str, sizes: Sizes | None = None) -> Iterator[Server]:
    """Yield a server of line `version` that answers queries, and stop what was started for it.

    Raises `ServerError` with the reason when there is no way to run it or it does not come up.
    """
    way = resolve(version)
    if isinstance(way, Unavailable):
        raise ServerError(way.reason)
    if isinstance(way, External):
        release = wait_until_ready(way.uri, way.auth, timeout=START_TIMEOUT)
        yield Server(way.uri, way.auth, release, way.source)
    elif isinstance(way, Container):
        with _container(way) as server:
            yield server
    else:
        with _local(way, sizes or Sizes()) as server:
            yield server


def admin(version: str, folder: Path, arguments: list[str], sizes: Sizes | None = None) -> None:
    """Run a command of neo4j-admin on the data of a server that has `folder` and does not run.

    Raises `ServerError` with what it printed last if it fails.
    """
    way, sizes = resolve(version), sizes or Sizes()
    if not isinstance(way, Local):
        raise ServerError(f"neo4j-admin is run from Maven's artifacts only, and this is {way}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "home").mkdir(parents=True, exist_ok=True)
    (folder / "neo4j.conf").write_text(_settings("127.0.0.1:7687", Sizes(folder=folder)))
    compiler = _SHORT_LIVED if sizes.short_lived else ()
    command = _java(way, sizes.heap, _class_path(way), *compiler)
    home = {"NEO4J_HOME": str(folder / "home"), "NEO4J_CONF": str(folder)}
    with (folder / "admin.log").open("wb") as log:
        code = subprocess.run(
            [*command, "org.neo4j.cli.AdminTool", *arguments],
            stdout=log, stderr=subprocess.STDOUT, env=os.environ | home, check=False,
        ).returncode  # fmt: skip
    if code:
        raise ServerError(f"neo4j-admin exited with {code}\n{_tail(folder / 'admin.log')}")


def wait_until_ready(
    uri: str, auth: Auth | None, timeout: float, process: subprocess.Popen[bytes] | None = None
) -> str:
    """Return the server's version once it answers; give up after `timeout` s or `process` ends."""
    deadline = time.monotonic() + timeout
    with GraphDatabase.driver(uri, auth=auth) as driver:
        while True:
            try:
                driver.verify_connectivity()
                return driver.get_server_info().agent.removeprefix("Neo4j/")
            except AuthError as problem:
                raise ServerError(f"{uri} refused the login: {problem.message}") from problem
            except (DriverError, Neo4jError) as problem:
                if process is not None and process.poll() is not None:
                    raise ServerError(f"the server exited with {process.returncode}") from problem
                if time.monotonic() > deadline:
                    raise ServerError(f"{uri} gave no answer in {timeout:.0f} s") from problem
                time.sleep(0.2)


# --- the environment -------------------------------------------------------------------------


def _from_environment(version: str, line: Line) -> External | None:
    prefix = "COGNIGRAPH_TEST_NEO4J_"
    uri = os.environ.get(f"{prefix}URI{line.env_suffix}")
    if not uri:
        return None

    def setting(name: str) -> str | None:
        own = os.environ.get(f"{prefix}{name}{line.env_suffix}")
        return own if own is not None else os.environ.get(f"{prefix}{name}")

    password = setting("PASSWORD")
    return External(version, uri, (setting("USER") or "neo4j", password) if password else None)


# --- Docker ----------------------------------------------------------------------------------


@functools.cache
def _why_no_docker() -> str | None:
    """Return why containers cannot be used here, or None when they can."""
    try:
        importlib.import_module("testcontainers.community.neo4j")
    except ImportError as problem:
        return f"testcontainers 4.15+ is not installed ({problem})"
    docker = shutil.which("docker")
    if docker is None:
        return "no docker on PATH"
    # The command and not the Python client, which leaks a socket when nothing answers.
    command = [docker, "version", "--format", "{{.Server.Version}}"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=15, check=False)
    except subprocess.TimeoutExpired:
        return "the Docker engine does not answer"
    return "no Docker engine is running" if done.returncode else None


@contextmanager
def _container(way: Container) -> Iterator[Server]:
    from testcontainers.community.neo4j import Neo4jContainer

    limited = Neo4jContainer(way.image, username="neo4j", password="cognigraph").with_env(
        "NEO4J_db_memory_transaction_max", "256m"
    )
    with limited as container:
        uri, auth = container.get_connection_url(), (container.username, container.password)
        release = wait_until_ready(uri, auth, timeout=START_TIMEOUT)
        yield Server(uri, auth, release, way.source)


# --- the launcher ----------------------------------------------------------------------------


@contextmanager
def _local(way: Local, sizes: Sizes) -> Iterator[Server]:
    class_path = _class_path(way)
    folder = sizes.folder or Path(tempfile.mkdtemp(prefix="cognigraph-neo4j-"))
    folder.mkdir(parents=True, exist_ok=True)
    address = f"127.0.0.1:{_free_port()}"
    try:
        (folder / "neo4j.conf").write_text(_settings(address, sizes))
        with (folder / "server.log").open("wb") as log:
            process = subprocess.Popen(
                _command(way, class_path, folder, sizes),
                # Never written to: it closes when this process dies, and the server then stops.
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Its own group: a Ctrl-C at the terminal is not for the server, whose end is ours
                # to decide, and killing the group leaves no child of it behind.
                start_new_session=True,
            )
        try:
            uri = f"bolt://{address}"
            release = _started(uri, process, folder)
            yield Server(uri, None, release, way.source, process.pid)
        finally:
            if sizes.folder is not None:
                _let_it_close(process)
            _stop(process)
    finally:
        if sizes.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


def _settings(address: str, sizes: Sizes) -> str:
    settings = {
        "dbms.security.auth_enabled": "false",
        "dbms.usage_report.enabled": "false",
        # The default preallocates 256 MB of log for each of the two databases.
        "db.tx_log.preallocate": "false",
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": address,
        # The address in the routing table, so that neo4j:// works as well as bolt://.
        "server.bolt.advertised_address": address,
        "server.memory.pagecache.size": sizes.page_cache,
        # As docker/compose.yaml does: a heavy query fails alone.
        "db.memory.transaction.max": "256m",
        **(_KEPT_PLANS if sizes.short_lived else {}),
    }
    lines = [f"{key}={value}" for key, value in settings.items()]
    return "".join(f"{line}\n" for line in [*lines, *sizes.settings])


# Nearly all of a server's time goes into planning statements. Each test multiplies the number of
# nodes in a database that was empty at first, and by default every statement is then planned again
# every ten seconds. By default there is also a plan for each order of magnitude of the lengths of a
# statement's lists and strings; with one plan for all, it is the plan that the tests of plans see.
# By default the plans of 1000 statements are kept, and random queries would drive the others out.
_KEPT_PLANS = {
    "server.memory.query_cache.per_db_cache_num_entries": "10000",
    "dbms.cypher.min_replan_interval": "1h",
    "internal.cypher.use_parameter_size": "false",
}

# In minutes the optimising compiler and a parallel collector cost more than they give back. With
# the quick compiler alone the default code cache is 48 MB, which the planner's code overflows.
# A quarter of the time went into interpreting what had not been called often enough. By default
# garbage is collected 300 times in a run, in a third of the memory that is there, and five times
# all of it, because the memory for classes begins with 21 MB.
_SHORT_LIVED = (
    "-XX:TieredStopAtLevel=1",
    "-XX:CompileThresholdScaling=0.25",
    "-XX:ReservedCodeCacheSize=240m",
    "-XX:+UseSerialGC",
    "-XX:NewRatio=1",
    "-XX:MetaspaceSize=256m",
)


def _command(way: Local, class_path: str, folder: Path, sizes: Sizes) -> list[str]:
    compiler = (f"-Xms{sizes.heap}", *_SHORT_LIVED) if sizes.short_lived else ()
    return [
        *_java(way, sizes.heap, class_path, *compiler, *sizes.java),
        "Launcher",
        str(folder / "home"),
        str(folder / "neo4j.conf"),
        *(["keep"] if sizes.folder else []),
    ]


def _java(way: Local, heap: str, class_path: str, *options: str) -> list[str]:
    opened = ("java.nio", "java.io", "java.util", "java.util.concurrent", "sun.nio.ch")
    return [
        str(way.java),
        f"-Xmx{heap}",
        *options,
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opened),
        # What the official packages set too: SIMD for the vector index.
        "--add-modules=jdk.incubator.vector",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        class_path,
    ]


def _started(uri: str, process: subprocess.Popen[bytes], folder: Path) -> str:
    try:
        return wait_until_ready(uri, None, START_TIMEOUT, process)
    except ServerError as problem:
        logs = (folder / "server.log", folder / "home" / "logs" / "debug.log")
        tails = [f"--- {log.name}\n{_tail(log)}" for log in logs if log.exists()]
        raise ServerError("\n".join([str(problem), *tails])) from problem


def _tail(log: Path, lines: int = 30) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def _let_it_close(process: subprocess.Popen[bytes]) -> None:
    """Let a server whose data is kept write its checkpoint; the next start is quick then."""
    if process.stdin is not None:
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=START_TIMEOUT)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill the server and whatever it started: its data goes too, so nothing needs closing."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


# --- Java and Maven --------------------------------------------------------------------------


@functools.cache
def _find_java(accepted: tuple[int, ...]) -> Path | None:
    """Return the `java` of the first JDK of an accepted major version; a JRE does not do."""
    for home in _java_homes():
        java = home / "bin" / "java"
        # The launcher is a source file, which takes the compiler.
        if (home / "bin" / "javac").exists() and _java_major(java) in accepted:
            return java
    return None


def _java_homes() -> Iterator[Path]:
    # JAVA_HOME itself first, then JAVA_HOME_25, JAVA_HOME_25_X64 and the like.
    for name in sorted(name for name in os.environ if name.startswith("JAVA_HOME")):
        yield Path(os.environ[name])
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path).resolve().parents[1]
    yield from sorted(Path("/usr/lib/jvm").glob("*"))


def _java_major(java: Path) -> int | None:
    try:
        done = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(\d+)', done.stderr)
    return int(found[1]) if found else None


def _class_path(way: Local) -> str:
    """Return the class path of `way.release`, resolved once per machine and checkout."""
    folder = CACHE / way.release
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "classpath.txt"
    with _locked(folder / "lock"):
        class_path = kept.read_text().strip() if kept.exists() else ""
        # Maven's repository may have been cleaned since.
        if not class_path or not all(Path(jar).exists() for jar in class_path.split(os.pathsep)):
            _run_maven(way, kept)
            class_path = kept.read_text().strip()
        launcher = _launcher(way, folder, class_path)
    return os.pathsep.join([class_path, str(launcher)])


def _launcher(way: Local, folder: Path, class_path: str) -> Path:
    """Return an archive of the compiled `Launcher`; Java itself would compile it at each start."""
    source = HERE / "Launcher.java"
    # A class that a newer Java has compiled is none for an older one.
    digest = hashlib.sha256(source.read_bytes() + bytes(way.java)).hexdigest()[:12]
    archive = folder / f"launcher-{digest}.jar"
    if not archive.exists():
        with tempfile.TemporaryDirectory() as compiled:
            javac = str(way.java.with_name("javac"))
            command = [javac, "-cp", class_path, "-d", compiled, str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise ServerError(f"javac could not compile {source}:\n{done.stderr}")
            part = archive.with_suffix(".part")
            with zipfile.ZipFile(part, "w") as packed:
                for file in Path(compiled).glob("*.class"):
                    packed.write(file, file.name)
            part.replace(archive)
    return archive


def _run_maven(way: Local, output: Path) -> None:
    output.unlink(missing_ok=True)
    command = [
        str(way.maven),
        "--quiet",
        "--batch-mode",
        f"--file={HERE / 'pom.xml'}",
        "dependency:build-classpath",
        f"-Dneo4j.version={way.release}",
        f"-Dmdep.outputFile={output}",
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=RESOLVE_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired as problem:
        raise ServerError(f"mvn took over {RESOLVE_TIMEOUT:.0f} s for {way.release}") from problem
    if done.returncode or not output.exists():
        said = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise ServerError(f"mvn could not resolve org.neo4j:neo4j:{way.release}:\n{said}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on `path`; the system drops it if this process dies."""
    import fcntl  # POSIX only, as the launcher is: elsewhere Docker or the environment serve

    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


# --- by hand ---------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    """Start one server, print its URI on one line, and serve until Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers.neo4j_server")
    parser.add_argument("version", choices=sorted(LINES), nargs="?", default="5.26")
    parser.add_argument("--heap", default=Sizes.heap)
    parser.add_argument("--page-cache", default=Sizes.page_cache)
    parser.add_argument("--short-lived", action="store_true", help="start as the tests do")
    parser.add_argument("--folder", type=Path, help="where the data is, which is kept")
    parser.add_argument("--setting", action="append", default=[], help="key=value in neo4j.conf")
    parser.add_argument("--java", action="append", default=[], help="option of Java")
    chosen = parser.parse_args(arguments)
    sizes = Sizes(
        chosen.heap, chosen.page_cache, chosen.short_lived, chosen.folder, tuple(chosen.setting),
        tuple(chosen.java),
    )  # fmt: skip
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()
        # Also ends a wait for a server that is still starting.
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        with running_server(chosen.version, sizes) as server:
            print(server.uri, flush=True)
            stopping.wait()
    except KeyboardInterrupt:
        return 0
    except ServerError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
