"""Two real servers in one job, driven in slices."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from live.conftest import Start
from live.engine import Record, Run, finish, listen_until, phase, run, start, target, timed
from mydyno.lab.stack import RunningServer

pytestmark = pytest.mark.live

ROUNDS = [[0, 1], [1, 0], [1, 0]]


@pytest.fixture
def pair(server: RunningServer, start: Start) -> Iterator[tuple[RunningServer, RunningServer]]:
    servers = (server, start())
    for one in servers:
        with one.connect() as client:
            client.execute("CREATE DATABASE IF NOT EXISTS engine_test")
    yield servers


def sliced(servers: tuple[RunningServer, ...], *phases: Record, sql: str = "SELECT 1", **more: object) -> Record:
    step = {"send": {"name": "read", "sql": [sql]}}
    workload = {"program": {"name": "read", "transactions": [{"name": "read", "steps": [step]}]}}
    return {
        "protocol": 3,
        "servers": [
            {
                "target": target(one),
                "workload": workload,
                "phases": list(phases),
                "sampling": {"interval_s": 60.0, "server_pid": one.pid},
            }
            for one in servers
        ],
        "slices": {"slice_s": 0.1, "longest_s": 5.0, "order": ROUNDS},
        **more,
    }
