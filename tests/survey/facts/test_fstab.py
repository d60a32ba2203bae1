"""/etc/fstab read and edited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.survey.facts.fstab import parse_fstab, with_options

PLAIN = """# /etc/fstab: static file system information.
UUID=ab-cd  /               ext4    errors=remount-ro 0       1
/dev/md0\t/var/lib/mysql\txfs  noatime,nofail  0 2   # the data

tmpfs /tmp tmpfs defaults
/swapfile none swap sw 0 0
"""


def test_entries_have_their_line_fields_and_options() -> None:
    root, data, scratch, swap = parse_fstab(PLAIN)
    assert (root.line, root.source, root.mount_point, root.kind) == (2, "UUID=ab-cd", "/", "ext4")
    assert (data.line, data.options, data.fault) == (3, ("noatime", "nofail"), None)
    assert (scratch.options, scratch.fault) == (("defaults",), None)
    assert (swap.kind, swap.fault) == ("swap", None)


def test_the_seeds_line_with_a_space_in_its_options_is_a_fault_that_says_so() -> None:
    (entry,) = parse_fstab("/dev/md0 /var/lib/mysql xfs nobootwait, noatime 0 2\n")
    assert entry.fault is not None
    assert "'noatime' is where the number for dump belongs: is there a space" in entry.fault


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/dev/md0 /data xfs nobootwait,noatime 0 2", "Upstart's alone; today it is nofail"),
        ("/dev/md0 /data xfs timeout=5 0 2", "x-systemd.device-timeout="),
        ("/dev/md0 /data", "a line of 2 fields"),
        ("/dev/md0 data xfs defaults 0 2", "not a path from the root"),
        ("/dev/md0 /data xfs defaults 0 two", "'two' is where the number for pass belongs"),
    ],
)
def test_a_line_that_would_not_be_mounted_is_reported(line: str, expected: str) -> None:
    assert expected in (parse_fstab(line)[0].fault or "")


def test_spaces_in_names_are_octal() -> None:
    assert parse_fstab(r"/dev/sdb /my\040data ext4 defaults")[0].mount_point == "/my data"


def test_only_the_options_of_one_line_change() -> None:
    edited = with_options(PLAIN, 3, ("noatime", "nofail", "nodiratime"))
    assert edited == PLAIN.replace("noatime,nofail", "noatime,nofail,nodiratime")


@given(st.text(alphabet="ab/# \t\n,=0\\", max_size=60))
def test_any_text_is_read_and_an_edit_that_changes_nothing_keeps_every_byte(text: str) -> None:
    for entry in parse_fstab(text):
        fields = text.split("\n")[entry.line - 1].split()
        if len(fields) > 3:
            assert with_options(text, entry.line, [fields[3]]) == text


@pytest.mark.parametrize(("line", "options"), [(1, ["rw"]), (3, ["no atime"]), (3, [""])])
def test_an_edit_that_would_spoil_the_file_is_refused(line: int, options: list[str]) -> None:
    with pytest.raises(ValueError, match=f"line {line} of fstab"):
        with_options("# nothing\n\n" + PLAIN.split("\n")[2], line, options)
