"""A tool that is missing or fails is reported with the package that has it, or with its own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.core.errors import MissingToolError, StorageError
from mydyno.lab.stack.storage.tools import complaint, output_of, run_tool, setting, write_setting
from mydyno.machine.local import LocalHost


def test_a_missing_tool_is_reported_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match=r"mkfs.reiserfs was not found on the local host") as caught:
        run_tool(LocalHost(), ["mkfs.reiserfs", "-q"])
    assert caught.value.hint == "install it where the local host finds it: apt install reiserfsprogs"


def test_a_failure_carries_what_the_tool_said_and_its_command() -> None:
    with pytest.raises(StorageError, match=r"looking failed: .*No such file or directory") as caught:
        output_of(LocalHost(), ["ls", "/does/not/exist"], "looking")
    assert caught.value.hint == "the command was: ls /does/not/exist"


def test_the_advice_to_look_into_the_kernels_log_is_left_out_since_errors_quote_it() -> None:
    script = "echo wrong option >&2; echo '   dmesg(1) may have more information' >&2"
    assert complaint(LocalHost().run(["sh", "-c", script])) == "wrong option"
    assert complaint(LocalHost().run(["sh", "-c", "exit 3"])) == "exit code 3"


def test_the_options_that_a_tool_lists_after_its_reason_are_left_out() -> None:
    """As mkfs.xfs does."""
    script = "printf 'Log size must be at least 64MB.\\nUsage: mkfs.xfs\\n [-b]\\n [-d]\\n [-f]\\n' >&2"
    assert complaint(LocalHost().run(["sh", "-c", script])) == "Log size must be at least 64MB."


def test_a_setting_is_written_and_read(tmp_path: Path) -> None:
    file = tmp_path / "nr_requests"
    file.write_text("64\n")
    host = LocalHost()
    assert setting(host, file) == "64"
    assert write_setting(host, file, "128") is None
    assert setting(host, file) == "128"
    assert setting(host, tmp_path / "none") is None
    assert write_setting(host, tmp_path / "no" / "folder", "1") == "No such file or directory"
