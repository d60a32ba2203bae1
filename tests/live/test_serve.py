"""A run on a real private server, watched in a real browser to its end, whatever is closed or killed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab.report.browser import Browser, Page, browser
from serve.site import Site, process
from serve.test_in_browser import visit, wait

from live.mydyno_process import MEASURED, Workplace, wait_for_line
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.views.verdicts import verdicts
from mydyno.lab.results.store import Lab

pytestmark = pytest.mark.live

WATCHED = """
experiment: watched
setup:
  server:
    config: {max_connections: 40, thread_cache_size: 4, innodb_buffer_pool_size: 32M,
             innodb_log_file_size: 8M}
factors:
  server.config.thread_cache_size: [4, 20]
workload:
  smack: {scenario: select-key, rows: 500}
  connections: [2, 6]
  think: 2ms
  each: {warmup: 500ms, measure: 2500ms}
sampling: {every: 500ms}
design: {repeats: 3, seed: 3, order: blocked}
"""
"""Six trials of about eight seconds."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


def events_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def rates_under_way(folder: Path) -> list[float]:
    """Of the trial that began last."""
    events = events_of(folder)
    last = max(place for place, event in enumerate(events) if event["type"] == "trial-started")
    return [event["queries_per_second"] for event in events[last:] if event["type"] == "measured"]


def agrees(page: Page, folder: Path) -> None:
    """What the page has of the trial under way is what the run has written, each interval once.

    Numbers are shown every two seconds: here, what has come is shown at once.
    """
    deadline = time.monotonic() + 20
    while True:
        written = rates_under_way(folder)
        shown = page.ask("watch.show(), watch.panels.get('')?.curves.rate.data[1] ?? []")
        if len(shown) >= 2 and shown == written[: len(shown)] and len(written) - len(shown) <= 2:
            return
        assert time.monotonic() < deadline, (shown, written)
        time.sleep(0.2)


def is_running(page: Page) -> None:
    wait(page, "document.querySelector('.cell.running') !== null")
    wait(page, "/^[0-9,.]+$/.test(document.querySelector('[data-value=rate]')?.textContent ?? '')")


def compared_with_the_lab(page: Page, made: Site, workplace: Workplace) -> None:
    with Lab.open(workplace.lab, write=False) as lab:
        run = lab.find_run()
        last = {one.trial_id: one for one in run.attempts()}
        headline = verdicts(gather(run)).headline
    shown = page.ask(
        "Object.fromEntries([...document.querySelectorAll('.cell[data-trial]')]"
        ".map((cell) => [cell.dataset.trial, cell.className.replace('cell ', '')]))"
    )
    assert shown == {name: one.status for name, one in last.items()}
    assert page.ask("document.querySelector('h1').textContent").replace("\N{NO-BREAK SPACE}", " ") == headline
    assert f"{len(last)} of 6" in page.ask("document.querySelector('.facts').textContent")
    reasons = page.ask(
        "[...document.querySelectorAll('.invalid-trials li li')].map((each) => each.textContent)"
    )
    assert sorted(reasons) == sorted(reason for one in last.values() for reason in one.reasons)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_run_is_watched_to_its_end_whatever_is_closed_or_killed(workplace: Workplace, chromium: Browser):
    (workplace.folder / "watched.yaml").write_text(WATCHED)
    command = ("run", str(workplace.folder / "watched.yaml"), "--no-report")
    state = {"MYDYNO_STATE": str(workplace.folder / "state")}
    running = workplace.start(*command)
    wait_for_line(running, "trial 1/6")
    (folder,) = (workplace.lab / "runs").iterdir()
    address = f"/runs/{folder.name}"
    with process(workplace.lab, environment=state) as (server, made):
        with chromium.page() as page:
            visit(page, made, address)
            is_running(page)
            agrees(page, folder)
            assert page.messages() == []
        # The page was closed, and is opened again in the midst of a trial.
        with chromium.page() as page:
            visit(page, made, address)
            is_running(page)
            agrees(page, folder)
            server.kill()
            server.wait()
            wait(page, "document.querySelector('#link').textContent === 'not connected: trying again'")
            with process(workplace.lab, made.port, environment=state) as (_, again):
                wait(page, "document.querySelector('#link').textContent === 'live'")
                agrees(page, folder)
                running.kill()
                running.communicate()
                wait(page, "document.querySelector('#run-state').dataset.state === 'not finished'")
                resumed = workplace.start(*command)
                wait(page, "document.querySelector('#run-state').dataset.state === 'running'")
                agrees(page, folder)
                _, errors = resumed.communicate(timeout=240)
                assert resumed.returncode in MEASURED, errors
                wait(page, "document.querySelector('#run-state').dataset.state === 'finished'")
                compared_with_the_lab(page, again, workplace)
                assert page.ask("watch.last") == len(events_of(folder)), "no event is missing"


def test_a_run_serves_its_own_pages_and_takes_them_with_it(workplace: Workplace):
    running = workplace.start("run", str(workplace.experiment), "--no-report", "--serve")
    line = wait_for_line(running, "/?token=")
    address, _, token = line.rpartition("http://127.0.0.1:")[2].strip().partition("/?token=")
    made = Site(int(address), token)
    made.enter()
    wait_for_line(running, "trial 1/4")
    assert ">short-" in made.ask("/").text
    running.communicate(timeout=120)
    assert running.returncode in MEASURED
    with pytest.raises(ConnectionError):
        made.ask("/")
    assert [pid for pid in workplace.processes() if pid != os.getpid()] == []


def test_with_allow_run_a_run_is_measured_again_and_stopped(workplace: Workplace):
    assert workplace.run("run", str(workplace.experiment), "--no-report").returncode in MEASURED
    with process(workplace.lab, 0, "--allow-run", environment=workplace.environment()) as (_, made):
        with Lab.open(workplace.lab, write=False) as lab:
            name = lab.find_run().folder.name
        assert "Measure again" in made.ask(f"/runs/{name}").text
        answer = made.ask(f"/runs/{name}/start", "POST", body="again=1", Origin=made.address)
        assert answer.status == 303
        deadline = time.monotonic() + 60
        while "live-mark" not in (page := made.ask("/").text):
            assert time.monotonic() < deadline, made.ask(f"/runs/{name}").text
            time.sleep(0.2)
        second = f"{name}-2"
        assert second in page
        assert made.ask(f"/runs/{name}/start", "POST", body="again=1", Origin=made.address).status == 404
        assert made.ask(f"/runs/{name}/stop", "POST", Origin=made.address).status == 404, "another one runs"
        assert made.ask(f"/runs/{second}/stop", "POST", Origin=made.address).status == 303
        while "live-mark" in made.ask("/").text:
            assert time.monotonic() < deadline + 60
            time.sleep(0.2)
    last = events_of(workplace.lab / "runs" / second)[-1]
    assert last["type"] in ("run-interrupted", "run-finished")
