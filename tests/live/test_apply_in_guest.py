"""`mydyno apply` on a whole Debian in QEMU: everything applied, rebooted, rolled back, killed, cut off.

One guest for all tests; each leaves it as it was. Skipped, aloud, where the guest cannot be built.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from apply.builders import advice, finding

from live.debian_guest import DebianGuest, build_image
from mydyno.advisor import Advice
from mydyno.apply.change import (
    ByHand,
    RemoveVariable,
    SetMountOptions,
    SetQueue,
    SetSysctl,
    SetSysfs,
    SetUnit,
    SetVariable,
)
from mydyno.core.errors import MissingToolError
from mydyno.machine.images.suites import SUITES, machine_suite
from mydyno.machine.local import LocalHost

# The first test builds the guest, too; on a busy machine a guest without KVM is ten times as slow.
pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(3000)]

ADVICE, HARMFUL = Path("/root/advice.json"), Path("/root/harmful.json")
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
DATA = "/var/lib/mysql"
OPTIONS = "/etc/mysql/mariadb.conf.d/50-server.cnf"

SWAPPINESS = finding("swappiness", SetSysctl(name="vm.swappiness", value="1", was="60"))
EVERYTHING = (
    SWAPPINESS,
    finding("huge-pages", SetSysfs(path=THP, value="madvise", was="always")),
    finding(
        "scheduler",
        SetQueue(disk="vdc", attribute="scheduler", value="mq-deadline", was="none"),
        SetQueue(disk="vdc", attribute="read_ahead_kb", value="64", was="128"),
    ),
    finding(
        "access-times", SetMountOptions(mount_point=DATA, add=("noatime",), remove=("relatime",), was=None)
    ),
    finding("open-files", SetUnit(unit="mariadb.service", name="LimitNOFILE", value="65535", was="32768")),
    finding("connections", SetVariable(name="max_connections", value="222", was="151", restart=False)),
    finding(
        "slow-log",
        SetVariable(name="long_query_time", value="0.5", was="10.000000", restart=False),
        SetVariable(name="slow_query_log", value="ON", was="OFF", restart=False),
    ),
    finding("expiry", RemoveVariable(name="expire_logs_days", file=OPTIONS, line=None, was="10.000000")),
    finding(
        "log-buffer", SetVariable(name="innodb_log_buffer_size", value="32M", was="16777216", restart=True)
    ),
)
NO_START = finding(
    "redo-place", SetVariable(name="innodb_log_group_home_dir", value="/nowhere", was="./", restart=True)
)

NEW = {
    "swappiness": "1",
    "huge pages": "[madvise]",
    "scheduler": "[mq-deadline]",
    "read ahead": "64",
    "mount": "rw,noatime",
    "mount of the server": "rw,noatime",
    "open files": "65535",
    "variables": "222\t0.500000\t1\t33554432\t0.000000",
}
"""What `live` gives when all of it is in force."""

LIVE = {
    "swappiness": "cat /proc/sys/vm/swappiness",
    "huge pages": f"grep -o '[[].*[]]' {THP}",
    "scheduler": "grep -o '[[].*[]]' /sys/block/vdc/queue/scheduler",
    "read ahead": "cat /sys/block/vdc/queue/read_ahead_kb",
    "mount": f"findmnt -n -o OPTIONS {DATA}",
    "mount of the server": f"grep ' {DATA} ' /proc/$(pidof mariadbd)/mountinfo | cut -d' ' -f6",
    "open files": "awk '/Max open files/ {print $4}' /proc/$(pidof mariadbd)/limits",
    "variables": "mariadb -N -e 'SELECT @@GLOBAL.max_connections, @@GLOBAL.long_query_time,"
    " @@GLOBAL.slow_query_log, @@GLOBAL.innodb_log_buffer_size, @@GLOBAL.expire_logs_days'",
}

FILES = """
cd /etc && find . -printf '%P %y %m %U:%G %l\\n' | sort
find . -type f -print0 | sort -z | xargs -0 sha256sum
"""
"""Every file, folder and link of /etc with its mode and owner, and the bytes of the files."""

RUNNING = "systemctl is-active mariadb.service"


@dataclass(frozen=True)
class State:
    files: str
    live: dict[str, str]


def state(guest: DebianGuest) -> State:
    return State(guest.output("sh", "-c", FILES), live(guest))


def live(guest: DebianGuest) -> dict[str, str]:
    return {name: guest.output("sh", "-c", command).strip() for name, command in LIVE.items()}


def told(text: str) -> None:
    sys.stdout.write(text + "\n")


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebianGuest]:
    """Switched on, with an advice for everything."""
    suite = machine_suite(LocalHost())
    if suite not in SUITES:
        pytest.skip("the guest is built of Debian's packages, and this machine is not Debian or is sid")
    folder = tmp_path_factory.mktemp("guest")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYDYNO_CACHE", str(tmp_path_factory.mktemp("cache")))
        try:
            image = build_image(folder, suite, told)
        except MissingToolError as error:
            pytest.skip(str(error))
    guest = DebianGuest(image, folder)
    try:
        guest.switch_on()
        guest.host.write_text(ADVICE, advice(*EVERYTHING).to_json())
        guest.host.write_text(HARMFUL, advice(SWAPPINESS, NO_START).to_json())
        yield guest
    finally:
        guest.switch_off()
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def old(guest: DebianGuest) -> State:
    """As it was before any test."""
    return state(guest)


def applied(guest: DebianGuest, place: Path) -> str:
    """What an application says that succeeds."""
    done = guest.mydyno("apply", str(place), "--yes", "--restart")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_everything_is_applied_outlives_a_reboot_and_is_rolled_back_byte_for_byte(
    guest: DebianGuest, old: State
) -> None:
    said = applied(guest, ADVICE)
    assert "Done, and read back" in said
    assert "next start of the server" not in said
    assert live(guest) == NEW
    guest.reboot()
    assert live(guest) == NEW
    assert guest.output("systemctl", "is-system-running").strip() == "running"
    again = guest.mydyno("apply", str(ADVICE), "--yes", "--restart")
    assert (again.returncode, again.stdout.splitlines()[-1]) == (0, "Nothing to do.")
    back = guest.mydyno("rollback", "--yes")
    assert back.returncode == 0, back.stdout + back.stderr
    assert state(guest) == old
    guest.reboot()
    assert state(guest) == old


def test_when_the_server_does_not_start_everything_is_put_back_and_its_log_is_reported(
    guest: DebianGuest, old: State
) -> None:
    done = guest.mydyno("apply", str(HARMFUL), "--yes", "--restart")
    assert done.returncode == 9, done.stdout + done.stderr
    assert "mariadb.service did not start" in done.stderr
    assert "/nowhere" in done.stderr
    assert "everything is as it was before" in done.stderr
    assert guest.output("sh", "-c", RUNNING).strip() == "active"
    assert state(guest) == old


KILLED_AT = {
    "the first file": "[ -e /etc/sysctl.d/*mydyno* ]",
    "the kernel": "[ $(cat /proc/sys/vm/swappiness) = 1 ]",
    "the restart": "! systemctl is-active --quiet mariadb.service",
}


@pytest.mark.parametrize("moment", ["the first file", "the restart"])
def test_killed_with_its_guardian_in_the_middle_the_next_command_puts_everything_back(
    guest: DebianGuest, old: State, moment: str
) -> None:
    script = f"""
        python3 -m mydyno apply {ADVICE} --yes --restart >/root/out 2>&1 & mydyno=$!
        until {KILLED_AT[moment]}; do kill -0 $mydyno || exit 3; sleep 0.02; done
        kill -9 $(pgrep -P $mydyno mydyno-guardian) $mydyno
    """
    done = guest.run("bash", "-c", script)
    assert done.returncode == 0, done.stderr + guest.output("cat", "/root/out")
    assert "unfinished" in guest.mydyno("history").stdout
    back = guest.mydyno("rollback", "--yes")
    assert back.returncode == 0, back.stdout + back.stderr
    assert state(guest) == old


def test_killed_alone_its_guardian_puts_everything_back(guest: DebianGuest, old: State) -> None:
    script = f"""
        python3 -m mydyno apply {ADVICE} --yes --restart >/root/out 2>&1 & mydyno=$!
        until {KILLED_AT["the kernel"]}; do kill -0 $mydyno || exit 3; sleep 0.02; done
        guardian=$(pgrep -P $mydyno mydyno-guardian)
        kill -9 $mydyno
        while [ -e /proc/$guardian/exe ]; do sleep 0.02; done
    """
    done = guest.run("bash", "-c", script)
    assert done.returncode == 0, done.stderr + guest.output("cat", "/root/out")
    assert state(guest) == old


def test_after_a_power_cut_in_the_middle_the_next_command_puts_everything_back(
    guest: DebianGuest, old: State
) -> None:
    script = f"""
        python3 -m mydyno apply {ADVICE} --yes --restart >/root/out 2>&1 & mydyno=$!
        until {KILLED_AT["the restart"]}; do kill -0 $mydyno || exit 3; sleep 0.02; done
    """
    done = guest.run("bash", "-c", script)
    assert done.returncode == 0, done.stderr + guest.output("cat", "/root/out")
    guest.switch_off()
    guest.switch_on()
    back = guest.mydyno("rollback", "--yes")
    assert back.returncode == 0, back.stdout + back.stderr
    assert state(guest) == old


UNSUITABLE = f"""
set -e
echo always > {THP}
echo 64 > /proc/sys/net/core/somaxconn
echo mq-deadline > /sys/block/vdb/queue/scheduler
echo 8 > /sys/block/vdb/queue/nr_requests
mount -o remount,strictatime,nobarrier,discard {DATA}
mkdir -p /etc/systemd/system/mariadb.service.d
printf '[Service]\\nLimitNOFILE=1024\\n' > /etc/systemd/system/mariadb.service.d/guide.conf
systemctl daemon-reload
systemctl restart mariadb.service
"""
"""What guides and accidents leave behind, for which the rules of the host have changes."""

RULES_OF_THE_HOST = {
    "mount-atime",
    "mount-barriers",
    "mount-discard",
    "open-files-limit-of-process",
    "queue-requests",
    "somaxconn",
    "transparent-huge-pages",
}


def advised(guest: DebianGuest) -> set[str]:
    """The rules that advise a change of mydyno's own, of those above."""
    done = guest.mydyno("advise", "--for", "1", "--out", "/root/host.json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = Advice.model_validate_json(guest.output("cat", "/root/host.json")).findings
    made = {each.rule for each in found if any(not isinstance(change, ByHand) for change in each.changes)}
    return made & RULES_OF_THE_HOST


def test_what_the_rules_of_the_host_advise_is_done_and_then_not_advised_again(guest: DebianGuest) -> None:
    guest.output("sh", "-c", UNSUITABLE)
    try:
        before = live(guest)
        assert advised(guest) == RULES_OF_THE_HOST
        only = ",".join(sorted(RULES_OF_THE_HOST))
        done = guest.mydyno("apply", "/root/host.json", "--yes", "--restart", "--only", only)
        assert done.returncode == 0, done.stdout + done.stderr
        options = set(live(guest)["mount of the server"].split(",")) | set(live(guest)["mount"].split(","))
        assert "noatime" in options
        assert not {"nobarrier", "discard"} & options
        assert advised(guest) == set()
        back = guest.mydyno("rollback", "--yes")
        assert back.returncode == 0, back.stdout + back.stderr
        assert live(guest) == before
        assert advised(guest) == RULES_OF_THE_HOST
    finally:
        guest.output("rm", "/etc/systemd/system/mariadb.service.d/guide.conf")
        guest.output("rmdir", "/etc/systemd/system/mariadb.service.d")
        guest.reboot()
