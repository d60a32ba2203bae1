"""`mydyno report --open`: a browser where there is a display, and the path where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mydyno.cli.browser import shown


@pytest.fixture
def a_page(tmp_path: Path) -> Path:
    page = tmp_path / "a report.html"
    page.write_text("<!DOCTYPE html><title>x</title>")
    return page


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a display")
def test_without_a_display_nothing_is_started_and_it_says_so(a_page, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert shown(a_page) == "there is no display here"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere $BROWSER is not asked")
def test_with_a_display_the_readers_browser_is_given_the_page(a_page, tmp_path):
    """In a separate process, since a process looks for its browsers once."""
    import subprocess

    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" >{tmp_path}/asked\n')
    browser.chmod(0o755)
    script = (
        f"from pathlib import Path; from mydyno.cli.browser import shown; print(shown(Path({str(a_page)!r})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={
            "DISPLAY": ":99",
            "BROWSER": f"{browser} %s",
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": ":".join(sys.path),
        },
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    assert done == "None\n"
    assert (tmp_path / "asked").read_text() == a_page.as_uri()
