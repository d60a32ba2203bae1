"""What foreign text may do to a terminal: be read, and nothing else."""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import subprocess
import sys
import termios
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab.report.builders import thread_cache_run
from server.access.hostile_server import hostile_server, refusal

from cli.test_compare import kept
from mydyno.cli import screen
from mydyno.cli.display import for_stream
from mydyno.core.visible import visible, visible_json, visible_line
from mydyno.lab.results.bundle.archive import _checksum
from mydyno.lab.trial import events

TITLE = "\x1b]0;OWNED\x07"
EVIL = f"evil{TITLE}\x1b[35mpink\x1b[2J\x9b31m\u202eTXT\u2066[magenta]m[/magenta][link=http://evil.example]l[/link]"
FILE = EVIL.replace("/", "")
SHOWN = "\\x1b]0;OWNED"

SOURCES = Path(__file__).parents[2] / "src" / "mydyno"
PRINTERS = {
    SOURCES / "cli" / "screen.py",
    SOURCES / "page" / "charts" / "press.py",  # Its standard output is a pipe to another mydyno.
    SOURCES / "serve" / "reports.py",  # So is this one's.
}


def harmless(written: str) -> None:
    """Only our own sequences: of colours, none of which is magenta, and of the live panel."""
    own = re.sub(r"\x1b\[(?!(?:\d+;)*35m)[\d;]*m", "", written)
    own = re.sub(r"\x1b\[(\?25[lh]|\d?[AK]|2K)", "", own)
    bad = [
        match[0]
        for match in re.finditer(
            r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069].{0,20}", own
        )
    ]
    assert not bad, bad
    assert "\x1b]8;" not in written, "no link"


class Terminal:
    """A pseudo-terminal, all that is written to it, and its end for a program."""

    def __init__(self) -> None:
        self._master, self.end = pty.openpty()
        settings = termios.tcgetattr(self.end)
        settings[1] &= ~termios.OPOST
        termios.tcsetattr(self.end, termios.TCSANOW, settings)
        termios.tcsetwinsize(self.end, (50, 200))
        self._parts: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._master, 65536)
            except OSError:
                return
            self._parts.append(part)

    def written(self) -> str:
        """Everything, once every program has closed it."""
        os.close(self.end)
        self._reader.join(60)
        os.close(self._master)
        return b"".join(self._parts).decode()


_RUN = """
import json, sys
from mydyno.cli.main import main
for arguments in json.loads(sys.stdin.readline()):
    sys.argv = ["mydyno", *arguments]
    print("##", flush=True)
    try:
        main()
    except SystemExit:
        pass
"""


def on_terminal(folder: Path, *commands: list[str]) -> list[str]:
    """What each command writes to a terminal; all in one process, since a start takes a second."""
    terminal = Terminal()
    with subprocess.Popen(
        [sys.executable, "-c", _RUN],
        stdin=subprocess.PIPE,
        stdout=terminal.end,
        stderr=terminal.end,
        cwd=folder,
        env=os.environ | {"TERM": "xterm-256color", "LANG": "C.UTF-8"},
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(commands).encode() + b"\n")
        process.stdin.close()
        process.wait(600)
    written = terminal.written().split("##\n")[1:]
    assert len(written) == len(commands), written
    return written


def hostile_lab(folder: Path) -> None:
    made = thread_cache_run(repeats=3, connections=(10,), invalid=())
    evil = replace(
        made,
        experiment=replace(
            made.experiment,
            question=EVIL,
            points=tuple(replace(point, title=f"{point.title}{EVIL}") for point in made.experiment.points),
        ),
        records=[
            replace(
                trial,
                server_version=EVIL,
                settings_in_force=dict(trial.settings_in_force) | {"version_comment": EVIL},
            )
            for trial in made.records
        ],
    )
    kept(folder, evil, "a" * 16)
    kept(folder, replace(evil, experiment=replace(evil.experiment, size=f"x{TITLE}")), "b" * 16, slower=0.5)


def experiment_file(path: Path) -> None:
    text = json.dumps(EVIL)
    path.write_text(
        f"experiment: shown\nquestion: {text}\nsetup: {{host: {text}, server: {{release: {text}}}}}\n"
        f"workload: {{oltp-read-only: {{}}}}\n",
        encoding="utf-8",
    )


def bundle_file(path: Path) -> None:
    import gzip
    import io
    import tarfile

    content: dict[str, object] = {
        "format": "mydyno-bundle",
        "version": 1,
        "mydyno": "0",
        "lab_format": 1,
        "run": EVIL,
        "experiment": "e",
        "series": True,
        "anonymous": False,
        "files": [],
    }
    document = json.dumps(content | {"sha256": _checksum(content)}).encode()
    with (
        gzip.open(path, "wb") as file,
        tarfile.open(fileobj=file, mode="w") as tar,
    ):
        info = tarfile.TarInfo("manifest.json")
        info.size = len(document)
        tar.addfile(info, io.BytesIO(document))


@pytest.mark.timeout(900)  # It is a dozen commands, on a machine that may be busy.
def test_no_foreign_text_reaches_a_terminal_as_a_control_sequence(tmp_path: Path) -> None:
    experiment_file(tmp_path / "evil.yaml")
    (tmp_path / "workload.yaml").write_text(f"workload: {json.dumps(EVIL)}\nabout: {json.dumps(EVIL)}\n")
    hostile_lab(tmp_path / "lab")
    bundle_file(tmp_path / "evil.tar.gz")
    (tmp_path / FILE).write_text(json.dumps({"format": EVIL, EVIL: 1}))
    (tmp_path / "slow.log").write_text(
        f"# Time: 2026-01-01T00:00:00.000000Z\n# User@Host: {EVIL}[{EVIL}] @ {EVIL} []  Id: 1\n"
        "# Query_time: 1.5  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 1\n"
        f"use `{EVIL}`;\nSET timestamp=1767225600;\nSELECT '{EVIL}' FROM `t{EVIL}`;\n",
        encoding="utf-8",
    )
    with hostile_server(refusal(f"8.0.36-{EVIL}", f"denied {EVIL}")) as server_of_evil:
        port = server_of_evil.port
        server = ["--host", "127.0.0.1", "--port", str(port), "--user", "u"]
        commands = [
            ["plan", "evil.yaml"],
            ["workload", "check", "workload.yaml"],
            ["load", "oltp-read-only", *server],
            ["facts", "--server", f"mysql://u@127.0.0.1:{port}"],
            ["digest", "slow.log"],
            ["compare", "thread-cache", "--lab", "lab"],
            ["runs", "--lab", "lab", "--json"],
            ["unbundle", "evil.tar.gz", "--lab", "other"],
            ["apply", FILE],
            ["report", FILE, "--lab", "lab"],
            ["runs", "--lab", FILE],
            ["plan", f"--{EVIL}"],
        ]
        for command, written in zip(commands, on_terminal(tmp_path, *commands), strict=True):
            harmless(written)
            # The digest's reader replaces control characters by itself.
            hidden = {"--json": "\\u001b]0;OWNED", "slow.log": "]0;OWNED"}.get(command[-1], SHOWN)
            flat = re.sub(r"[\s│]", "", re.sub(r"\x1b\[[\d;]*m", "", written))
            assert hidden in flat, (command, written)


def test_the_live_panel_and_its_steps_are_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    terminal = Terminal()
    with (
        open(terminal.end, "w", encoding="utf-8", closefd=False) as stream,
        for_stream(stream) as display,
    ):
        for event in (
            events.RunStarted(experiment=EVIL, folder=EVIL, planned=2, completed=0, expected_seconds=9),
            events.TrialStarted(trial="t1", number=1, planned=2, block=1, point=EVIL, phases=1),
            events.Step(EVIL),
            events.PhaseStarted(0, 8, label=EVIL),
            events.Measured(phase=0, connections=8, queries_per_second=9.0, p95_ns=1, errors=3),
            events.TrialFinished(trial="t1", status="invalid", reasons=(EVIL,), seconds=1.0),
        ):
            display(event)
    written = terminal.written()
    harmless(written)
    flat = re.sub(r"\s", "", re.sub(r"\x1b\[[\d;]*m", "", written))
    assert SHOWN in flat
    assert "[magenta]m[/magenta][link=http://evil.example]l[/link]" in flat, "no markup"


def test_our_own_colours_reach_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for switch in ("NO_COLOR", "COLORTERM", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(switch, raising=False)
    terminal = Terminal()
    with open(terminal.end, "w", encoding="utf-8", closefd=False) as stream:
        screen.console(stream).print("red", style="red")
    assert "\x1b[31mred" in terminal.written()


@given(st.text())
def test_visible_text_has_no_control_character_but_tabs_and_line_feeds(text: str) -> None:
    shown = visible(text)
    harmless(shown)
    shown.encode()
    assert visible(shown) == shown
    assert not set(visible_line(text)) & {"\n", "\t"}
    if re.fullmatch(r"[ -~äöü\n\t–€]*", text):
        assert shown == text


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda each: st.lists(each) | st.dictionaries(st.text(), each)
    )
)
def test_a_json_document_keeps_its_value(value: object) -> None:
    for ascii_only in (True, False):
        shown = visible_json(json.dumps(value, ensure_ascii=ascii_only))
        harmless(shown)
        assert json.loads(shown) == value


def test_only_the_screen_prints() -> None:
    found = [
        f"{path.relative_to(SOURCES)}:{node.lineno}: {what}"
        for path in sorted(SOURCES.rglob("*.py"))
        if path not in PRINTERS
        for node in ast.walk(ast.parse(path.read_text()))
        if (what := printing(node, path))
    ]
    assert not found, "print through mydyno.cli.screen: " + "; ".join(found)


def printing(node: ast.AST, path: Path) -> str | None:
    """How a node prints, or None. Rich's console is allowed where it draws into a string."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
        return "print"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Console":
        return None if path == SOURCES / "page" / "markup.py" else "Console"
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    name = f"{node.value.id}.{node.attr}"
    if name in {"typer.echo", "typer.secho", "typer.confirm", "typer.prompt", "typer.style", "rich.print"}:
        return name
    is_flushed = path == SOURCES / "apply" / "guardian.py"
    if name in {"sys.stdout", "sys.stderr"} and not is_flushed:
        return name
    return None
