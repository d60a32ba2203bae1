"""The pages in Chromium: usable by everyone, inert, alive while a run goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from lab.report.browser import Browser, Page
from lab.report.test_in_browser import PHONE, on_screens

from mydyno.lab.results.store import Lab
from mydyno.lab.trial import events
from serve.made import begin, make_run, story
from serve.site import Site, site

PATIENCE_S = 120.0


def wait(page: Page, expression: str) -> None:
    """Until a JavaScript expression is true. While another page is loaded there is none to ask."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with suppress(AssertionError):
            if page.ask(expression):
                return
        assert time.monotonic() < deadline, (expression, page.messages(), page.ask("document.body.innerText"))
        time.sleep(0.05)


def visit(page: Page, made: Site, path: str) -> None:
    """Enters by the printed address, then opens a page of it."""
    page.call("Page.navigate", url=made.first)
    wait(
        page,
        "location.href.startsWith('http') && location.search === '' && document.readyState === 'complete'",
    )
    page.call("Page.navigate", url=made.address + path)
    wait(
        page,
        f"location.pathname + location.search === {json.dumps(path)} && document.readyState === 'complete'",
    )


class Running:
    """A run in the midst of its second block, which a test drives on."""

    def __init__(self, path: Path) -> None:
        self.lab = Lab.open(path, write=True)
        self.folder = make_run(self.lab, 0, 8, 2)
        self.log = events.EventLog(self.folder / "events.jsonl")
        self.log(events.RunStarted("oltp-0", str(self.folder), 8, 0, 96.0))
        for place in range(2):
            story(self.log, place, 8)
        begin(self.log, 2, 8)
        for second in range(5):
            self.second(second)

    def second(self, number: int, errors: int = 0) -> None:
        self.log(events.Measured(0, 8, 1000.0 + number, 1_500_000, errors, p50_ns=800_000, p99_ns=2_500_000))
        self.log(events.Sampled(1.25, 1_000_000.0, 2_000_000.0, 30.0 + number, 8))


@contextmanager
def run_of(path: Path) -> Iterator[Running]:
    made = Running(path)
    try:
        yield made
    finally:
        made.lab.close()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with run_of(tmp_path / "lab") as made:
        yield made


@on_screens(1440)
def test_axe_finds_no_violation_of_wcag_a_and_aa(chromium: Browser, running: Running, width: int, dark: bool):
    with site(running.lab.path) as made, chromium.page(width, dark=dark) as page:
        for path in ("/", f"/runs/{running.folder.name}", "/runs/nothing"):
            visit(page, made, path)
            assert page.violations() == [], path


@pytest.mark.parametrize("width", [1440, PHONE])
def test_no_page_is_wider_than_the_window(chromium: Browser, running: Running, width: int):
    with site(running.lab.path) as made, chromium.page(width) as page:
        for path in ("/", f"/runs/{running.folder.name}"):
            visit(page, made, path)
            assert page.ask("document.documentElement.scrollWidth") <= width


def test_a_trial_is_seen_from_its_beginning_and_goes_on(chromium: Browser, running: Running):
    with site(running.lab.path) as made, chromium.page() as page:
        visit(page, made, f"/runs/{running.folder.name}")
        wait(page, "document.querySelector('[data-value=rate]')?.textContent === '1,004'")
        assert page.ask("document.querySelector('[data-heading]').textContent").startswith(
            "t003, trial 3 of 8, block 2: thread_cache_size = 8"
        )
        panel = "watch.panels.get('')"
        assert page.ask(f"{panel}.curves.rate.data[1]") == [1000, 1001, 1002, 1003, 1004]
        assert page.ask(f"{panel}.curves.threads.data.slice(1)") == [[30, 31, 32, 33, 34], [8] * 5]
        running.second(5, errors=3)
        wait(page, "document.querySelector('[data-value=rate]').textContent === '1,005'")
        names = ("p50", "p95", "p99", "errors", "cpu", "disk", "connections", "threads")
        shown = {
            name: page.ask(f"document.querySelector('[data-value={name}]').textContent") for name in names
        }
        assert shown == {
            "p50": "800 µs", "p95": "1.5 ms", "p99": "2.5 ms", "errors": "3", "cpu": "1.25 CPUs",
            "disk": "1 + 2 MB/s", "connections": "8", "threads": "35/s",
        }  # fmt: skip
        assert page.ask("document.querySelectorAll('.curve canvas').length") == 4
        assert page.messages() == []


def test_an_invalid_trial_is_shown_the_moment_it_has_ended(chromium: Browser, running: Running):
    with site(running.lab.path) as made, chromium.page() as page:
        visit(page, made, f"/runs/{running.folder.name}")
        wait(page, "document.querySelector('.cell.running[data-trial=t003]') !== null")
        running.log(events.TrialFinished("t003", "invalid", ("<b>the server died</b>",), 12.0))
        wait(
            page,
            "document.querySelector('#news').textContent.includes('<b>the server died</b>')",
        )
        assert page.ask("document.querySelectorAll('#panels b').length") == 0


def test_a_page_whose_server_is_restarted_goes_on_without_a_gap(chromium: Browser, running: Running):
    key = b"r" * 32
    with chromium.page() as page:
        with site(running.lab.path, key=key) as made:
            visit(page, made, f"/runs/{running.folder.name}")
            wait(page, "document.querySelector('[data-value=rate]')?.textContent === '1,004'")
        wait(page, "document.querySelector('#link').textContent === 'not connected: trying again'")
        running.second(5)
        running.second(6)
        with site(running.lab.path, key=key, port=made.port):
            wait(page, "document.querySelector('[data-value=rate]').textContent === '1,006'")
            assert page.ask("watch.panels.get('').curves.rate.data[1]") == list(range(1000, 1007))
            count = len((running.folder / "events.jsonl").read_text().splitlines())
            assert page.ask("watch.last") == count


def test_the_keyboard_reaches_everything_in_its_order(chromium: Browser, running: Running):
    with site(running.lab.path) as made, chromium.page() as page:
        visit(page, made, "/")
        reached = []
        for _ in range(12):
            page.call(
                "Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9
            )
            page.call("Input.dispatchKeyEvent", type="keyUp", key="Tab", code="Tab", windowsVirtualKeyCode=9)
            reached.append(page.ask("document.activeElement.className || document.activeElement.name || "
                                    "document.activeElement.getAttribute('href')"))  # fmt: skip
    assert reached[0] == "skip"
    assert f"/runs/{running.folder.name}" in reached
    assert "run" in reached, "the box that is ticked for a comparison"


def test_ticking_and_comparing_needs_no_script(chromium: Browser, three: Path):
    with site(three) as made, chromium.page(script=False) as page:
        page.call("Emulation.setScriptExecutionDisabled", value=False)
        visit(page, made, "/")
        page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.call("Page.reload")
        time.sleep(1)
        page.call("Emulation.setScriptExecutionDisabled", value=False)
        page.ask(
            "document.querySelectorAll('input[name=run]').forEach((box, at) => { box.checked = at < 2; })"
        )
        page.ask("document.querySelector('form[action=\"/compare\"]').submit()")
        wait(page, "location.pathname === '/compare' && document.querySelector('h1') !== null")
        assert page.ask("document.querySelectorAll('figure').length") > 0
