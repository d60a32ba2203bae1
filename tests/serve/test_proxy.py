"""The example of docs/how-to/serve.md for a reverse proxy, with a real nginx."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from mydyno.lab.results.store import Lab
from mydyno.lab.trial.events import EventLog, RunFinished
from serve.made import make_run, story
from serve.site import Site, site

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serve.md"
NAME = "lab.example.org"
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def proxied(made: Site, folder: Path) -> Iterator[Site]:
    """The same pages through nginx, under its name."""
    assert NGINX is not None
    example = re.search(r"```nginx\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert example is not None
    port = free_port()
    server = (
        example[1]
        .replace("127.0.0.1:8443", f"127.0.0.1:{port}")
        .replace("127.0.0.1:8080", f"127.0.0.1:{made.port}")
    )
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{paths}{server}}}\n"
    )
    process = subprocess.Popen(
        [NGINX, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stderr=subprocess.PIPE
    )
    try:
        deadline = time.monotonic() + 20
        while process.poll() is None:
            with suppress(ConnectionError), socket.create_connection(("127.0.0.1", port)):
                break
            assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        yield replace(made, port=port)
    finally:
        process.terminate()
        process.communicate()


@pytest.mark.skipif(
    NGINX is None, reason="nginx is not installed: the example of a reverse proxy is not tested"
)
def test_the_documented_proxy_passes_pages_and_events_on_and_no_other_name(tmp_path: Path):
    with Lab.open(tmp_path / "lab", write=True) as lab:
        run = make_run(lab, 0, 8, 4)
    log = EventLog(run / "events.jsonl")
    story(log, 0, 8)
    count = len((run / "events.jsonl").read_text().splitlines())
    with site(tmp_path / "lab", names=(NAME,)) as made, proxied(made, tmp_path) as behind:
        entered = behind.ask(f"/?token={made.token}", cookie="", Host=NAME)
        assert entered.status == 200
        behind.cookie = entered.headers["set-cookie"].partition(";")[0]
        assert run.name in behind.ask("/", Host=NAME, Origin=f"https://{NAME}").text
        assert behind.ask("/", Host="evil.example").status == 421
        assert behind.ask("/", Host=NAME, Origin="https://evil.example").status == 403
        with behind.listening(f"/runs/{run.name}/events?after={count}", Host=NAME) as stream:
            began = time.monotonic()
            log(RunFinished(4, 0))
            assert stream.next()[0] == count + 1
            assert time.monotonic() - began < 5, "it is not collected by the proxy"
