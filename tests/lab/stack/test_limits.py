from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mydyno.core.errors import ServerError
from mydyno.machine.identity import Identity
from mydyno.machine.local import LocalHost
from mydyno.machine.process_limits import (
    LimitDifference,
    LimitInForce,
    Limits,
    check,
    in_force,
    limits_difference,
    parse_limits,
    wrap,
)

LIMITS = Limits(nofile=700, nproc=4000)
ROWS = """\
Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max processes             96047                unlimited            processes
Max open files            1024                 1048576              files
"""


def test_the_rows_of_proc_are_read_and_unlimited_is_no_number() -> None:
    assert parse_limits(ROWS) == (
        LimitInForce("nofile", 1024, 1048576),
        LimitInForce("nproc", 96047, None),
    )
    assert parse_limits("") == ()


def test_only_what_is_configured_is_set() -> None:
    assert wrap(["mysqld"], Limits(nofile=700), None) == ["prlimit", "--nofile=700:700", "--", "mysqld"]


def test_the_user_is_changed_behind_the_limits_and_the_tie_made_again() -> None:
    command = wrap(["mysqld", "--x"], LIMITS, Identity("nobody", 65534, 65533))
    assert " ".join(command) == (
        "prlimit --nofile=700:700 --nproc=4000:4000 -- "
        "setpriv --reuid=65534 --regid=65533 --clear-groups --pdeathsig KILL -- mysqld --x"
    )


def test_a_wrapped_process_has_the_limits_and_the_user() -> None:
    host = LocalHost()
    limits = Limits(nofile=700, nproc=4000)
    script = "cat /proc/self/limits; id -u"
    done = host.run(wrap(["sh", "-c", script], limits, host.server_identity))
    assert done.returncode == 0, done.stderr
    assert limits_difference(limits, parse_limits(done.stdout)) == ()
    owner = os.getuid() if host.server_identity is None else host.server_identity.uid
    assert done.stdout.splitlines()[-1] == str(owner)


def test_a_limit_above_the_hard_one_is_refused_where_it_may_not_be_raised() -> None:
    script = (
        "from mydyno.machine.local import LocalHost; from mydyno.machine.process_limits import Limits;"
        "from mydyno.machine.process_limits import check; check(LocalHost(), Limits(nofile=400)); "
        "check(LocalHost(), Limits(nofile=501))"
    )
    command = ["prlimit", "--nofile=500:500", "--"]
    if os.geteuid() == 0:
        command += ["setpriv", "--bounding-set=-sys_resource", "--inh-caps=-sys_resource", "--"]
    done = subprocess.run(
        [*command, sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert "limits.nofile: 501 is above the hard limit 500" in done.stderr


def test_the_limits_of_a_running_process_are_read_through_its_host() -> None:
    child = subprocess.Popen(["prlimit", "--nofile=321:654", "cat"], stdin=subprocess.PIPE)
    try:
        # It answers, so prlimit has become cat.
        while Path(f"/proc/{child.pid}/comm").read_text() != "cat\n":
            pass
        assert LimitInForce("nofile", 321, 654) in in_force(LocalHost(), child.pid)
    finally:
        child.communicate()
    assert in_force(LocalHost(), child.pid) == ()


def test_a_limit_that_differs_or_cannot_be_read_is_reported() -> None:
    raised = LimitInForce("nofile", 1024, 1048576)
    assert limits_difference(LIMITS, (raised, LimitInForce("nproc", 4000, 4000))) == (
        LimitDifference("nofile", 700, raised),
    )
    (first, second) = limits_difference(LIMITS, (LimitInForce("nproc", None, None),))
    assert first.sentence() == "limits.nofile: 700 was configured, and the server's limits cannot be read"
    assert second.sentence() == (
        "limits.nproc: 4000 was configured, and the server has unlimited (hard: unlimited)"
    )


def test_more_files_than_the_kernel_allows_are_refused_before_anything_starts() -> None:
    with pytest.raises(ServerError, match="is above what the kernel"):
        check(LocalHost(), Limits(nofile=1_073_741_816))
    check(LocalHost(), Limits(nofile=128))
