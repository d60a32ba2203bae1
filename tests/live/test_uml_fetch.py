"""Fetching a User-Mode Linux kernel from this machine's own package sources, killed half-way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mydyno.core.errors import UsageError
from mydyno.machine.images import ImageStore
from mydyno.machine.uml import UmlKernels
from mydyno.machine.uml.kernels import fetch_kernel

pytestmark = [pytest.mark.live, pytest.mark.slow]

FETCH = """
import sys
from pathlib import Path
from mydyno.machine.uml import UmlKernels
from mydyno.machine.uml.kernels import fetch_kernel
print(fetch_kernel(UmlKernels(Path(sys.argv[1])), sys.argv[2], lambda what: print(what, flush=True)).version)
"""


def fetching(folder: Path, version: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", FETCH, str(folder), version],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    )


def test_a_fetch_that_is_killed_leaves_no_kernel_and_the_next_one_sweeps_what_it_left(tmp_path: Path) -> None:
    process = fetching(tmp_path, "6.1")
    assert process.stdout is not None
    heard = ""
    while "unpacking" not in heard:
        line = process.stdout.readline()
        if not line:
            _, said = process.communicate()
            assert "package" in said, said
            pytest.skip("this machine does not reach its package sources")
        heard += line
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert UmlKernels(tmp_path).all() == []
    assert ImageStore(tmp_path).sweep() == 1
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_a_version_that_is_none_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'six' is not a kernel version"):
        fetch_kernel(UmlKernels(tmp_path), "six", print)
    assert list(tmp_path.iterdir()) == []
