"""A real `mydyno serve` on a port of 127.0.0.1, in a thread of the test or as a process, and its answers."""

from __future__ import annotations

import http.client
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import uvicorn

from mydyno.lab.results.store import Lab
from mydyno.serve.access import Access
from mydyno.serve.address import Names, bind, parse_listen
from mydyno.serve.app import Pages, application
from mydyno.serve.library import Library
from mydyno.serve.reports import ReportMaker
from mydyno.serve.server import config
from mydyno.serve.starting import Runner

PATIENCE_S = 180.0
MYDYNO = (sys.executable, "-m", "mydyno")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class Site:
    """Where it is served, and how a browser gets in."""

    port: int
    token: str
    cookie: str = ""
    pages: Pages | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def first(self) -> str:
        return f"{self.address}/?token={self.token}"

    def ask(
        self, path: str, method: str = "GET", body: str = "", cookie: str | None = None, **headers: str
    ) -> Answer:
        """The answer to a request with the cookie, or with another one; headers with `_` for `-`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with_cookie = self.cookie if cookie is None else cookie
        if with_cookie:
            named.setdefault("Cookie", with_cookie)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, body=body or None, headers=named)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read().decode())
        finally:
            connection.close()

    def enter(self) -> None:
        """Exchanges the token for the cookie."""
        answer = self.ask(f"/?token={self.token}")
        assert answer.status == 200, answer
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    @contextmanager
    def listening(self, path: str, **headers: str) -> Iterator[Stream]:
        """The stream of a run's events."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request("GET", path, headers={"Cookie": self.cookie, **named})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        try:
            yield Stream(answer)
        finally:
            connection.close()


@dataclass
class Stream:
    answer: http.client.HTTPResponse

    def next(self) -> tuple[int | None, str, str]:
        """Number, name and data of the next event."""
        number, name, data = None, "message", None
        while True:
            line = self.answer.readline().decode()
            assert line, "the stream has ended"
            key, _, value = line.rstrip("\n").partition(": ")
            if line == "\n" and data is not None:
                return number, name, data
            if key == "id":
                number = int(value)
            elif key == "event":
                name = value
            elif key.startswith("data"):
                data = value


@contextmanager
def site(
    lab: Path, *, allow_run: bool = False, key: bytes = b"k" * 32, names: tuple[str, ...] = (), port: int = 0
) -> Iterator[Site]:
    """Served by a thread of this process; entered already."""
    bound, where = bind(parse_listen(f"127.0.0.1:{port}"))
    access = Access(Names(where, names), key)
    runner = Runner(MYDYNO, lab, trust=False) if allow_run else None
    # A busy machine would not let a process of the lowest priority make a page while a test waits.
    reports = ReportMaker(nice=0)
    shown = Pages(Library(lab, partial(Lab.open, write=False)), runner=runner, reports=reports)
    server = uvicorn.Server(config(application(shown, access)))
    shown.closing = lambda: server.should_exit
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    try:
        made = Site(where.port, access.token, pages=shown)
        made.enter()
        yield made
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        shown.reports.close()
        shown.library.close()


@contextmanager
def process(
    lab: Path, port: int = 0, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], Site]]:
    """Served by the command; entered already. Killed at the end."""
    started = subprocess.Popen(
        [*MYDYNO, "serve", "--lab", str(lab), "--listen", f"127.0.0.1:{port}", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    try:
        assert started.stderr is not None
        ready, _, _ = select.select([started.stderr], [], [], PATIENCE_S)
        line = started.stderr.readline() if ready else ""
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line)
        assert found, line
        made = Site(int(found[1]), found[2])
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                made.enter()
                break
            except ConnectionError:
                assert time.monotonic() < deadline
        yield started, made
    finally:
        if started.poll() is None:
            started.send_signal(signal.SIGKILL)
        started.communicate()
