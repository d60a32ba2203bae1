"""Chromium without a window, spoken to over a pipe: pages are opened, looked at and asked.

It speaks the Chrome DevTools Protocol (https://chromedevtools.github.io/devtools-protocol/): JSON messages,
each ended by a zero byte, on the descriptors 3 (to it) and 4 (from it) of `--remote-debugging-pipe`.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import axe_core_python
import pytest

_PATIENCE_S = 60
_AXE = Path(axe_core_python.__file__).parent / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome")


class Page:
    """One page in the browser, as wide as it is told to be."""

    def __init__(self, browser: Browser, width: int, height: int, *, dark: bool, script: bool = True) -> None:
        self._browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._target = target
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.resize(width, height)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call("Emulation.setScriptExecutionDisabled", value=not script)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **parameters)

    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )

    def open(self, path: Path) -> None:
        """Returns after the page's load event."""
        self.call("Page.navigate", url=path.as_uri())
        self._browser.wait_for("Page.loadEventFired", self._session)

    def ask(self, expression: str) -> Any:
        """What a JavaScript expression is worth, after the promise that it may be."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"]["exception"].get("description", found))
        return found["result"].get("value")

    def draw_all(self) -> None:
        """Scroll through the page until each chart that can be seen is drawn."""
        self._draw(most=10_000)

    def draw_first(self) -> None:
        """The same for the first chart alone."""
        self._draw(most=1)

    def _draw(self, most: int) -> None:
        self.ask(
            """(async (most) => {
              const frame = () => new Promise((done) => requestAnimationFrame(done));
              for (const box of [...document.querySelectorAll('[data-chart]')].slice(0, most)) {
                if (!box.checkVisibility()) continue;
                box.scrollIntoView({behavior: 'instant', block: 'center'});
                for (let turn = 0; !box.classList.contains('is-live') && turn < 600; turn++) await frame();
                if (!box.classList.contains('is-live')) throw new Error('not drawn: ' + box.dataset.chart);
              }
              scrollTo({top: 0, behavior: 'instant'});
              await frame();
            """
            f"}})({most})"
        )

    def screenshot(self, path: Path, *, width: int, height: int, scale: float = 1.0) -> None:
        """The page's upper left `width` x `height`, below the window's edge too."""
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
        taken = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(taken["data"]))

    def pdf(self, path: Path) -> None:
        """A4, as a reader would print it."""
        printed = self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(printed["data"]))

    def messages(self) -> list[str]:
        """What the page wrote to its console and what its policy refused, in their order."""
        return self._browser.logged(self._session)

    def violations(self) -> list[tuple[str, list[str]]]:
        """Of WCAG A and AA: the rule and the first elements. The page's policy would not let axe in."""
        self.call("Page.setBypassCSP", enabled=True)
        self.ask(_AXE.read_text() + "; undefined")
        wanted = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
        found = self.ask(f"axe.run(document, {json.dumps(wanted)}).then((found) => found.violations)")
        return [(each["id"], [node["html"][:160] for node in each["nodes"][:3]]) for each in found]

    def close(self) -> None:
        self._browser.call("Target.closeTarget", targetId=self._target)


def _told(method: str, event: dict[str, Any]) -> str | None:
    if method == "Runtime.consoleAPICalled":
        return " ".join(str(each.get("value", each.get("description"))) for each in event["args"])
    if method == "Runtime.exceptionThrown":
        details = event["exceptionDetails"]
        return str(details.get("exception", {}).get("description", details["text"]))
    return str(event["entry"]["text"]) if method == "Log.entryAdded" else None


class Browser:
    def __init__(self, process: subprocess.Popen[bytes], write: int, read: int) -> None:
        self._process, self._write, self._read = process, write, read
        self._rest = b""
        self._number = 0
        self._events: list[dict[str, Any]] = []
        self.version: str = self.call("Browser.getVersion")["product"]

    @contextmanager
    def page(
        self, width: int = 1200, height: int = 900, *, dark: bool = False, script: bool = True
    ) -> Iterator[Page]:
        page = Page(self, width, height, dark=dark, script=script)
        try:
            yield page
        finally:
            page.close()

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        asked = {"id": self._number, "method": method, "params": parameters}
        if session:
            asked["sessionId"] = session
        os.write(self._write, json.dumps(asked).encode() + b"\0")
        while (message := self._next()).get("id") != self._number:
            self._events.append(message)
        if "error" in message:
            raise AssertionError(f"{method}: {message['error']}")
        result: dict[str, Any] = message["result"]
        return result

    def wait_for(self, method: str, session: str) -> None:
        def wanted(event: dict[str, Any]) -> bool:
            return event.get("method") == method and event.get("sessionId") == session

        while not any(map(wanted, self._events)):
            self._events.append(self._next())
        self._events = [event for event in self._events if not wanted(event)]

    def logged(self, session: str) -> list[str]:
        own = [event for event in self._events if event.get("sessionId") == session]
        return [result for event in own if (result := _told(event["method"], event["params"]))]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            got = os.read(self._read, 1 << 20)
            if not got:
                raise AssertionError("Chromium has gone")
            self._rest += got
        message, _, self._rest = self._rest.partition(b"\0")
        read: dict[str, Any] = json.loads(message)
        return read


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium with a profile of its own; the test is skipped where there is none that runs."""
    command = next((found for name in NAMES if (found := shutil.which(name))), None)
    if command is None:
        pytest.skip("Chromium is not installed")
    to_child, from_us = os.pipe()
    from_child, to_us = os.pipe()
    with tempfile.TemporaryDirectory(prefix="mydyno-chromium-", ignore_cleanup_errors=True) as profile:
        flags = [
            "--headless",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
            "--no-first-run",
            "--disable-gpu",
            "--hide-scrollbars",
            "--font-render-hinting=none",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
        ]

        def descriptors() -> None:
            # 3 and 4 may be ends of these very pipes: they are moved out of the way first.
            reading, writing = os.dup(to_child), os.dup(to_us)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        process = subprocess.Popen(
            [command, *flags, "about:blank"],
            env={**os.environ, "TMPDIR": profile},  # It leaves folders there.
            preexec_fn=descriptors,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(to_us)
        try:
            try:
                made = Browser(process, from_us, from_child)
            except (AssertionError, BrokenPipeError):
                pytest.skip(f"{command} does not run here")
            yield made
        finally:
            os.close(from_us)
            os.close(from_child)
            process.terminate()
            process.wait(timeout=_PATIENCE_S)
