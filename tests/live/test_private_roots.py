"""Servers in private roots: one made of this machine's own files, and the releases of Debian's suites.

What fetches from Debian is slow, and skipped, aloud, where it cannot be had.
"""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from live.mydyno_process import MEASURED, Workplace, faults
from live.uml import NEEDS_KERNEL
from mydyno.core.errors import HostError, MissingToolError, ServerError, UsageError
from mydyno.core.server_version import Vendor
from mydyno.lab.results.store import Lab
from mydyno.lab.stack import BuiltLayers, ServerBinary, Setting, Site, cleanup, start_server
from mydyno.lab.stack.datadir import DataDirectoryLayer
from mydyno.lab.stack.dataset import FrozenDataset
from mydyno.lab.stack.server.initialise import initialise
from mydyno.machine.images import ImageStore
from mydyno.machine.process_limits import Limits
from mydyno.server.releases import KNOWN, ReleaseStore, binary_of, install
from mydyno.server.releases.debian import moving
from mydyno.server.releases.provider import Series

pytestmark = pytest.mark.live

DEBIAN = [name for name, known in KNOWN.items() if known.provider.name == "debian"]

EXPERIMENT = """
experiment: roots
setup: {GROUND server: {config: {innodb_buffer_pool_size: 32M, innodb_log_file_size: 8M}}}
factors: {server.release: [RELEASES]}
workload:
  oltp-read-write: {tables: 1, table_size: 1k}
  connections: [2]
  think: 5ms
  each: {warmup: 200ms, measure: MEASURE}
design: {repeats: 1, seed: 5}
unequal: [binary_log, character_set, collation, performance_schema, flush_method, memory, redo_capacity]
"""
STORAGE = "storage: {data: {disks: {size: 2G}, filesystem: ext4}},"


def system_in(folder: Path) -> Path:
    """A root that has this machine's own programs and an /etc of its own."""
    (folder / "etc").mkdir(parents=True)
    (folder / "etc" / "mark").write_text("private")
    (folder / "usr").symlink_to("/usr")
    return folder


@pytest.fixture
def inside(lab: Path, binary: ServerBinary) -> ServerBinary:
    """The system's server as one of a private root."""
    return replace(binary, root=system_in(lab.parent / "system"))


def mounts() -> str:
    return Path("/proc/self/mountinfo").read_text()


def experiment(workplace: Workplace, releases: list[str], ground: str = "") -> str:
    """A guest has longer, so that it has surely done something on a busy machine."""
    text = EXPERIMENT.replace("GROUND", ground).replace("MEASURE", "8s" if ground else "1s")
    file = workplace.folder / "roots.yaml"
    file.write_text(text.replace("RELEASES", ", ".join(releases)))
    return str(file)


def versions(workplace: Workplace) -> dict[str, str | None]:
    """Level -> what its server called itself; each trial must have no fault, and queries."""
    with Lab.open(workplace.lab, write=False, trust=True) as lab:
        trials = lab.find_run().trials()
    assert faults(trials) == set(), [trial.invalidities for trial in trials]
    assert all(trial.phases[0].queries > 0 for trial in trials)
    return {trial.levels["server.release"]: trial.server_version for trial in trials}


def had(*names: str) -> list[str]:
    """Releases, from this machine's cache or fetched into it."""
    for name in names:
        try:
            install(ReleaseStore(), name, KNOWN[name].provider, print)
        except (HostError, MissingToolError, UsageError) as error:
            pytest.skip(f"{name} cannot be had here: {error}")
    return list(names)


def as_nobody() -> list[str]:
    """What makes an ordinary user of root; skips where that user may not read this checkout."""
    if os.geteuid() != 0:
        return []
    user = pwd.getpwnam("nobody")
    drop = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]
    may = ["unshare", "--user", "--map-current-user", "--mount", sys.executable, "-c", "import mydyno"]
    done = subprocess.run([*drop, *may], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"an ordinary user cannot run this checkout in a namespace: {done.stderr}")
    return drop


def run_as_nobody(workplace: Workplace, cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """mydyno by an ordinary user, to whom the workplace is given."""
    for path in [workplace.folder, *workplace.folder.rglob("*")]:
        os.chown(path, 65534, 65534, follow_symlinks=False)
    return subprocess.run(
        [*as_nobody(), sys.executable, "-m", "mydyno", *arguments],
        env=workplace.environment(MYDYNO_CACHE=str(cache), HOME=str(workplace.folder)),
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


def test_a_server_in_a_private_root_is_the_process_that_was_started(
    site: Site, empty: FrozenDataset, inside: ServerBinary
) -> None:
    layer = DataDirectoryLayer("roots")
    clone = layer.build(site, BuiltLayers((empty,)))
    folder = site.lab / "trial"
    folder.mkdir()
    server = start_server(
        site,
        inside,
        datadir=clone.data,
        scratch=clone.scratch,
        config={},
        folder=folder,
        port=0,
        limits=Limits(nofile=700),
    )
    try:
        seen = Path(f"/proc/{server.pid}/root")
        assert (seen / "etc" / "mark").read_text() == "private"
        assert (seen / site.lab.relative_to("/")).exists()
        assert [(limit.soft, limit.hard) for limit in server.limits() if limit.name == "nofile"] == [
            (700, 700)
        ]
        assert server.variables()["version"].startswith(inside.version.text)
        assert str(site.lab.parent) not in mounts()
    finally:
        stopped = server.stop()
        layer.remove(site, clone)
    assert stopped, "it did not shut down cleanly"


def test_data_directories_are_made_inside_too_and_the_tools_scripts_are_the_roots(
    site: Site, inside: ServerBinary
) -> None:
    place = site.roomy_folder()
    datadir = place.path / "data"
    initialise(site, inside, datadir=datadir, scratch=place.path / "scratch", settings={})
    assert (datadir / "mysql").is_dir()
    site.remove(place)


KILLED = """
import sys
from dataclasses import replace
from pathlib import Path
from mydyno.machine.local import LocalHost
from mydyno.lab.stack import *

lab, root = map(Path, sys.argv[1:])
host = LocalHost()
site = Site(lab, host, Journal(lab))
dataset = DatasetLayer(inspect_binary(host, find_binary()), {}, {"workload": "none"}, lambda server: {})
clone = DataDirectoryLayer("killed").build(site, BuiltLayers((dataset.build(site, BuiltLayers()),)))
binary = inspect_binary(host, find_binary(), root)
server = start_server(
    site, binary, datadir=clone.data, scratch=clone.scratch, config={}, folder=clone.data.parent
)
print(server.pid, flush=True)
sys.stdin.read()
"""


def test_a_server_in_a_private_root_dies_with_a_mydyno_that_is_killed(lab: Path) -> None:
    root = system_in(lab.parent / "system")
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(lab), str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    server = Path(f"/proc/{int(process.stdout.readline())}")
    assert (server / "root/etc/mark").exists()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 5
    while server.exists():
        assert time.monotonic() < deadline, "the server lives on"
        time.sleep(0.02)
    assert cleanup(lab) != [], "its folders are still there"
    assert cleanup(lab) == []


def test_a_server_in_a_private_root_that_dies_at_its_start_is_quoted(
    site: Site, inside: ServerBinary
) -> None:
    dies_of_nonsense(site, inside)


def dies_of_nonsense(site: Site, binary: ServerBinary) -> None:
    """A server that refuses a setting says so in the error that is raised."""
    place = site.roomy_folder()
    datadir, scratch, folder = place.path / "data", place.path / "scratch", site.lab / "nonsense"
    folder.mkdir()
    initialise(site, binary, datadir=datadir, scratch=scratch, settings={})
    nonsense: dict[str, Setting] = {"innodb_data_file_path": "nonsense"}
    # MariaDB 10.2 and older releases speak of the value without the name.
    refused = r"ended while starting(.|\n)*(innodb_data_file_path|syntax error in file path)"
    with pytest.raises(ServerError, match=refused):
        start_server(site, binary, datadir=datadir, scratch=scratch, config=nonsense, folder=folder)
    site.remove(place)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_compares_a_private_root_with_the_system(workplace: Workplace) -> None:
    system_in(workplace.folder / "system")
    cache = workplace.folder / "cache"
    added = run_as_nobody(workplace, cache, "servers", "add", "whole", "--from", f"{workplace.folder}/system")
    assert added.returncode == 0, added.stderr
    done = run_as_nobody(workplace, cache, "run", experiment(workplace, ["system", "whole"]), "--no-report")
    assert done.returncode in MEASURED, done.stderr
    found = versions(workplace)
    assert found["whole"] == found["system"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_release_of_debian_is_loaded_on_this_machine(workplace: Workplace) -> None:
    releases = had(*DEBIAN)
    done = workplace.run("run", experiment(workplace, releases), "--no-report")
    assert done.returncode in MEASURED, done.stderr
    assert all((found or "").startswith(KNOWN[name].version) for name, found in versions(workplace).items())


@pytest.mark.slow
@pytest.mark.timeout(1800)
@NEEDS_KERNEL
def test_releases_of_debian_are_loaded_in_a_user_mode_linux_guest(workplace: Workplace) -> None:
    releases = had(*DEBIAN)
    file = experiment(workplace, releases, f"host: uml, {STORAGE}")
    done = workplace.run("run", file, "--no-report")
    assert done.returncode in MEASURED, done.stderr
    assert sorted(versions(workplace)) == sorted(releases)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_releases_of_debian_are_loaded_in_a_qemu_guest_of_another_suite(workplace: Workplace) -> None:
    if not [image for image in ImageStore().images() if image.kind == "root"]:
        pytest.skip("no image for guests is in mydyno's cache: mydyno images build")
    releases = had("mariadb-10.5", "mysql-9.7")
    file = experiment(workplace, releases, f"host: vm, {STORAGE}")
    done = workplace.run("run", file, "--no-report")
    assert done.returncode in MEASURED, done.stderr
    assert (versions(workplace)["mysql-9.7"] or "").startswith("MySQL 9.7")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_runs_a_release_of_debian(workplace: Workplace) -> None:
    releases = had("mariadb-10.5", "mysql-9.7")
    cache = ReleaseStore().folder.parent
    if subprocess.run([*as_nobody(), "test", "-r", str(cache / "servers")], check=False).returncode != 0:
        pytest.skip(f"{cache} is closed to the user nobody")
    done = run_as_nobody(workplace, cache, "run", experiment(workplace, releases), "--no-report")
    assert done.returncode in MEASURED, done.stderr
    assert (versions(workplace)["mariadb-10.5"] or "").startswith("MariaDB 10.5")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", KNOWN)
def test_every_release_reports_in_its_last_lines_why_it_does_not_start(site: Site, name: str) -> None:
    had(name)
    dies_of_nonsense(site, binary_of(name))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", ["reading the package lists", "fetching mariadb", "unpacking libc6"])
def test_an_installation_that_is_killed_leaves_nothing_after_the_next_command(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    monkeypatch.setenv("MYDYNO_CACHE", str(workplace.folder / "cache"))
    store = ReleaseStore()
    process = workplace.start("servers", "add", "mariadb-11.8")
    assert process.stdout is not None
    heard = ""
    while moment not in heard:
        line = process.stdout.readline()
        if not line:
            pytest.skip(f"the release cannot be had here: {heard}")
        heard += line
    process.send_signal(signal.SIGKILL)
    process.communicate()
    workplace.wait_until_no_process_is_left()
    assert store.names() == []
    assert workplace.run("servers", "remove", "--all").returncode == 0
    assert [path.name for path in store.folder.iterdir()] == ["lock"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_sid_has_not_is_reported_with_what_it_has(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYDYNO_CACHE", str(site.lab / "cache"))
    try:
        with pytest.raises(UsageError) as raised:
            install(ReleaseStore(), "mysql-99.1", moving(Series(Vendor.MYSQL, (99, 1))), print)
    except (HostError, MissingToolError) as error:
        pytest.skip(f"sid cannot be had here: {error}")
    assert "there is no MySQL 99.1 in Debian sid: it has MariaDB " in str(raised.value)
    assert "hint: take mariadb-" in str(raised.value)
