"""A machine without free local ports: a network namespace with two of them, and the real engine."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.load.scarce_ports import CONNECTIONS
from mydyno.machine.programs import find_program

SCRIPT = Path(__file__).with_name("scarce_ports.py")
NAMESPACE = ("unshare", "--user", "--map-root-user", "--net")


def test_a_lack_of_local_ports_is_named_and_the_server_is_not_called_dead() -> None:
    if shutil.which("unshare") is None or subprocess.run([*NAMESPACE, "true"], check=False).returncode:
        pytest.skip("no network namespace may be made here (unshare --user --net)")
    done = subprocess.run(
        [*NAMESPACE, sys.executable, str(SCRIPT), find_program("mydyno-engine")],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    said = {message["type"]: message for message in map(json.loads, done.stdout.splitlines())}
    end = said["phase_end"]
    assert said["done"]["exit"] == "ok"
    assert end["aborted"] is None
    assert 0 < end["connections_reached"] < CONNECTIONS
    assert end["errors"] == {"2004": CONNECTIONS - end["connections_reached"]}
    assert "no free local port" in end["error_examples"]["2004"]
