"""The whole stack in the flesh: made once, cloned for each trial, and gone after whatever happens."""

from __future__ import annotations

import doctest
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import mydyno.lab.stack
from mydyno.core.errors import LabError, MydynoError, ServerError
from mydyno.lab.stack import (
    DataDirectory,
    DataDirectoryLayer,
    DatasetLayer,
    Facts,
    FrozenDataset,
    Journal,
    Layer,
    RunningServer,
    ServerBinary,
    ServerLayer,
    SettingsError,
    Site,
    Stack,
    cleanup,
)
from mydyno.lab.stack.journal import FILE_NAME
from mydyno.lab.stack.undo import EndProcesses
from mydyno.machine.local import LocalHost
from mydyno.machine.processes import find_by_argument

pytestmark = pytest.mark.live

CONTENTS = {"workload": "one row"}


def load_one_row(server: RunningServer) -> Facts:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE mydyno")
        cursor.execute("CREATE TABLE mydyno.t (a INT PRIMARY KEY)")
        cursor.execute("INSERT INTO mydyno.t VALUES (1)")
    return {"rows": {"t": 1}}


def rows(server: RunningServer) -> int:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM mydyno.t")
        return int(cursor.fetchall()[0][0])


class Loading:
    """Counts how often it is asked to load."""

    def __init__(self, load: Callable[[RunningServer], Facts] = load_one_row) -> None:
        self.times = 0
        self._load = load

    def __call__(self, server: RunningServer) -> Facts:
        self.times += 1
        return self._load(server)


def trial(
    binary: ServerBinary,
    lab: Path,
    name: str,
    prepare: Callable[[RunningServer], Facts] = load_one_row,
    **config: int,
) -> list[Layer]:
    folder = lab / "trials" / name
    folder.mkdir(parents=True, exist_ok=True)
    return [
        DatasetLayer(binary, config, CONTENTS, prepare),
        DataDirectoryLayer(name),
        ServerLayer(binary, config, folder),
    ]


def nothing_left(lab: Path) -> bool:
    """Nothing that the journal names is there any more, and nothing lies about in the lab."""
    entries = [json.loads(line) for line in (lab / FILE_NAME).read_text().splitlines()]
    undos = [entry["undo"] for entry in entries if "undo" in entry]
    processes = [undo["argument"] for undo in undos if undo["kind"] == "end-processes"]
    folders = [Path(undo["path"]) for undo in undos if undo["kind"] == "remove-tree"]
    return (
        not any(find_by_argument(argument) for argument in processes)
        and not any(folder.exists() for folder in folders)
        and not any(lab.rglob("mydyno-*"))
    )


def test_the_dataset_is_made_once_and_every_trial_starts_from_the_same_bytes(
    site: Site, binary: ServerBinary
) -> None:
    loading = Loading()
    with Stack(site) as stack:
        for name in ("t001", "t002"):
            built = stack.move_to(trial(binary, site.lab, name, loading))
            server = built.of(RunningServer)
            assert rows(server) == 1
            with server.connect() as connection, connection.cursor() as cursor:
                cursor.execute("INSERT INTO mydyno.t VALUES (2)")
            assert rows(server) == 2
        assert built.of(FrozenDataset).facts == {"rows": {"t": 1}}
        assert built.of(FrozenDataset).size_bytes > 1_000_000
    with Stack(site) as stack:
        assert rows(stack.move_to(trial(binary, site.lab, "t003", loading)).of(RunningServer)) == 1
    assert loading.times == 1
    assert list((site.lab / "cache").rglob("ib_buffer_pool")) == []
    assert nothing_left(site.lab)
    assert (site.lab / "trials" / "t001" / "error.log").stat().st_size > 0


def test_the_example_of_the_package_runs(lab: Path) -> None:
    (example,) = doctest.DocTestParser().get_examples(str(mydyno.lab.stack.__doc__))
    names = {**vars(mydyno.lab.stack), "Path": Path, "Callable": Callable, "LocalHost": LocalHost}
    exec(example.source, names)
    (lab / "t001").mkdir()
    names["one_trial"](lab, lab / "t001", load_one_row)
    assert "max_connections=450" in (lab / "t001" / "my.cnf").read_text()
    assert nothing_left(lab)


def test_another_setting_restarts_the_server_and_keeps_the_data_directory(
    site: Site, binary: ServerBinary
) -> None:
    with Stack(site) as stack:
        first = stack.move_to(trial(binary, site.lab, "t001", thread_cache_size=8))
        same = stack.move_to(trial(binary, site.lab, "t001", thread_cache_size=8))
        assert same.of(RunningServer) is first.of(RunningServer)
        second = stack.move_to(trial(binary, site.lab, "t001", thread_cache_size=9))
        assert second.of(RunningServer).pid != first.of(RunningServer).pid
        assert second.of(DataDirectory) is first.of(DataDirectory)
        assert second.of(RunningServer).variables()["thread_cache_size"] == "9"


def test_a_setting_that_shapes_files_makes_another_dataset(site: Site, binary: ServerBinary) -> None:
    loading = Loading()
    with Stack(site) as stack:
        for size in (16384, 8192, 16384):
            layers = trial(binary, site.lab, f"page{size}", loading, innodb_page_size=size)
            server = stack.move_to(layers).of(RunningServer)
            assert server.variables()["innodb_page_size"] == str(size)
            assert rows(server) == 1
    assert loading.times == 2


def test_a_dataset_whose_loading_fails_leaves_nothing_and_can_be_made_again(
    site: Site, binary: ServerBinary
) -> None:
    def fail(server: RunningServer) -> Facts:
        load_one_row(server)
        raise MydynoError("the engine gave up")

    with Stack(site) as stack:
        with pytest.raises(MydynoError, match="the engine gave up"):
            stack.move_to(trial(binary, site.lab, "t001", fail))
        assert nothing_left(site.lab)
        assert list((site.lab / "cache").rglob("*.ibd")) == []
        assert rows(stack.move_to(trial(binary, site.lab, "t001")).of(RunningServer)) == 1


def test_a_server_that_dies_while_loading_fails_the_dataset(site: Site, binary: ServerBinary) -> None:
    def die(server: RunningServer) -> Facts:
        os.kill(server.pid, signal.SIGKILL)
        return {}

    with Stack(site) as stack, pytest.raises(ServerError, match="counting the rows of the dataset failed"):
        stack.move_to(trial(binary, site.lab, "t001", die))
    assert nothing_left(site.lab)


def test_a_damaged_dataset_is_reported_and_not_measured(site: Site, binary: ServerBinary) -> None:
    with Stack(site) as stack:
        stack.move_to(trial(binary, site.lab, "t001")[:1])
        (manifest,) = (site.lab / "cache").rglob("manifest.json")
        manifest.write_text("{")
        stack.close()
        with pytest.raises(LabError, match="holds no readable dataset"):
            stack.move_to(trial(binary, site.lab, "t001")[:1])


def test_an_unknown_setting_stops_the_whole_stack_before_the_first_layer(
    site: Site, binary: ServerBinary
) -> None:
    loading = Loading()
    with Stack(site) as stack, pytest.raises(SettingsError, match="max_connections"):
        stack.move_to(trial(binary, site.lab, "t001", loading, max_conections=1))
    assert loading.times == 0


@pytest.fixture
def small_disk(lab: Path) -> Iterator[Callable[[int], None]]:
    """The lab on a disk of its own, whose free space the test chooses in bytes."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a small disk")
    mount = ["mount", "-t", "tmpfs", "-o"]
    subprocess.run([*mount, "size=1g,mode=755", "tmpfs", str(lab)], check=True)

    def leave(free: int) -> None:
        space = os.statvfs(lab)
        size = (space.f_blocks - space.f_bfree) * space.f_frsize + free
        subprocess.run([*mount, f"remount,size={size}", "tmpfs", str(lab)], check=True)

    yield leave
    subprocess.run(["umount", "--lazy", str(lab)], check=True)


def test_a_full_disk_is_named_whichever_layer_meets_it_and_nothing_is_left(
    small_disk: Callable[[int], None], site: Site, binary: ServerBinary
) -> None:
    with Stack(site) as stack:
        small_disk(5_000_000)
        with pytest.raises(ServerError, match="could not create a data directory") as caught:
            stack.move_to(trial(binary, site.lab, "t001"))
        assert caught.value.hint == "the disk is full: free some space"
        assert nothing_left(site.lab)
        small_disk(900_000_000)
        dataset = stack.move_to(trial(binary, site.lab, "t001")[:1]).of(FrozenDataset)
        small_disk(dataset.size_bytes // 2)
        with pytest.raises(LabError, match=r"the data does not fit: a copy of .* takes"):
            stack.move_to(trial(binary, site.lab, "t001"))
        assert nothing_left(site.lab)
        small_disk(900_000_000)
        assert rows(stack.move_to(trial(binary, site.lab, "t001")).of(RunningServer)) == 1


def test_a_lab_below_a_closed_folder_keeps_its_data_directory_elsewhere(
    lab: Path, binary: ServerBinary
) -> None:
    closed = lab / "closed"
    (closed / "lab").mkdir(parents=True)
    closed.chmod(0o700)
    site = Site(closed / "lab", LocalHost(), Journal(closed / "lab"))
    with Stack(site) as stack:
        built = stack.move_to(trial(binary, site.lab, "t001"))
        server = built.of(RunningServer)
        assert rows(server) == 1
        assert server.datadir.is_relative_to("/var/tmp" if os.geteuid() == 0 else closed)
        assert built.of(FrozenDataset).data.is_relative_to(closed)
        assert server.error_log.is_relative_to(closed)
        assert server.error_log.stat().st_size > 0
    assert nothing_left(site.lab)


RUN_FOREVER = """
import sys
from pathlib import Path
from mydyno.machine.local import LocalHost
from mydyno.lab.stack import *

lab = Path(sys.argv[1])
host = LocalHost()
binary = inspect_binary(host, find_binary())

def load(server):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE mydyno")
        cursor.execute("CREATE TABLE mydyno.t (a INT PRIMARY KEY)")
        cursor.execute("INSERT INTO mydyno.t VALUES (1)")
    return {}

with Stack(Site(lab, host, Journal(lab))) as stack:
    for number in range(1000):
        folder = lab / "trials" / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        print(number, flush=True)
        dataset = DatasetLayer(binary, {}, {"workload": "one row"}, load)
        server = ServerLayer(binary, {}, folder)
        running = stack.move_to([dataset, DataDirectoryLayer(str(number)), server]).of(RunningServer)
        print(running.pid, flush=True)
"""


def ours(lab: Path) -> list[int]:
    """Every process that the lab's journal has ever meant, alive now."""
    entries = [json.loads(line) for line in (lab / FILE_NAME).read_text().splitlines() if line.endswith("}")]
    undos = [entry["undo"] for entry in entries if entry.get("undo", {}).get("kind") == "end-processes"]
    return [process.pid for undo in undos for process in find_by_argument(EndProcesses(**undo).argument)]


def gone_within(lab: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while ours(lab):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("moment", range(4))
def test_a_killed_run_leaves_no_server_and_cleanup_removes_the_rest(
    lab: Path, binary: ServerBinary, moment: int
) -> None:
    seconds = random.Random(moment).uniform(0.2, 4.0)
    run = subprocess.Popen([sys.executable, "-c", RUN_FOREVER, str(lab)], stdout=subprocess.DEVNULL)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(seconds)
    finally:
        run.kill()
        run.wait()
    if not (lab / FILE_NAME).exists():
        assert list(lab.iterdir()) == []
        return
    assert gone_within(lab, 2.0)
    cleanup(lab)
    assert nothing_left(lab)
    assert cleanup(lab) == []
    site = Site(lab, LocalHost(), Journal(lab))
    with Stack(site) as stack:
        assert rows(stack.move_to(trial(binary, lab, "after")).of(RunningServer)) == 1


def test_cleanup_ends_a_server_that_outlived_its_run(lab: Path) -> None:
    """A binary with file capabilities loses the tie to its parent; here the tie is cut by hand."""
    last_line = "print(running.pid, flush=True)"
    script = RUN_FOREVER.replace(last_line, f"{last_line}; break_off()")
    cut = textwrap.dedent(
        """
        import mydyno.machine.local, os, signal
        mydyno.machine.local.tied_to_parent = lambda argv, identity, parent: [
            *([] if identity is None else
            ["setpriv", f"--reuid={identity.uid}", f"--regid={identity.gid}", "--clear-groups", "--"]), *argv]
        def break_off():
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    run = subprocess.run([sys.executable, "-c", cut + script, str(lab)], capture_output=True, text=True)
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert ours(lab) == [int(run.stdout.split()[-1])]
    assert any("--defaults-file=" in sentence for sentence in cleanup(lab))
    assert ours(lab) == []
    assert nothing_left(lab)


def test_an_ordinary_user_needs_no_root(lab: Path, binary: ServerBinary) -> None:
    script = RUN_FOREVER.replace("range(1000)", "range(2)")
    command = [sys.executable, "-c", script, str(lab)]
    identity = LocalHost().server_identity
    if identity is not None:
        os.chown(lab, identity.uid, identity.gid)
        drop = ["setpriv", f"--reuid={identity.uid}", f"--regid={identity.gid}", "--clear-groups", "--"]
        importing = subprocess.run([*drop, sys.executable, "-c", "import mydyno"], capture_output=True)
        if importing.returncode != 0:
            pytest.skip("this checkout lies where no other user may read it")
        command = [*drop, *command]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert nothing_left(lab)
    assert (lab / "trials" / "1" / "error.log").stat().st_size > 0
