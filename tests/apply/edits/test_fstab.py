"""One field of one line of fstab."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apply.edits.builders import new_text, texts
from mydyno.apply.change import SetMountOptions
from mydyno.apply.edits.fstab import options_after, set_mount_options
from mydyno.apply.edits.texts import RefusedError

NOATIME = SetMountOptions(mount_point="/data", add=("noatime",), remove=("relatime", "strictatime"), was=None)
_OPTION = st.text("abcdefghij=0123456789_-", min_size=1, max_size=12)


def edited(text: str, change: SetMountOptions = NOATIME) -> str:
    system = texts({"/etc/fstab": text})
    set_mount_options(system, change)
    return new_text(system, "/etc/fstab")


def test_only_the_options_of_the_line_change() -> None:
    before = "# c\nUUID=1\t/data  ext4   relatime,nofail\t0 2 # mine\r\n\nUUID=2 / ext4 relatime 0 1"
    assert edited(before) == before.replace("relatime,nofail", "nofail,noatime")


def test_what_is_so_already_changes_nothing() -> None:
    system = texts({"/etc/fstab": "UUID=1 /data ext4 noatime,nofail 0 2\n"})
    set_mount_options(system, NOATIME)
    assert system.changed() == {}


def test_an_option_with_a_value_takes_the_place_of_its_other_value() -> None:
    change = SetMountOptions(mount_point="/data", add=("commit=30",), was=None)
    assert (
        edited("UUID=1 /data ext4 commit=5,noatime 0 2\n", change)
        == "UUID=1 /data ext4 noatime,commit=30 0 2\n"
    )


def test_without_any_option_left_there_are_the_defaults() -> None:
    change = SetMountOptions(mount_point="/data", remove=("relatime",), was=None)
    assert edited("UUID=1 /data ext4 relatime 0 2\n", change) == "UUID=1 /data ext4 defaults 0 2\n"


def test_an_option_that_only_upstart_knew_can_be_taken_out() -> None:
    change = SetMountOptions(mount_point="/data", remove=("nobootwait",), was=None)
    assert edited("UUID=1 /data ext4 nobootwait,noatime 0 2\n", change) == "UUID=1 /data ext4 noatime 0 2\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("UUID=1 / ext4 defaults 0 1\n", "no line of /etc/fstab mounts /data"),
        ("UUID=1 /data ext4 a 0 1\nUUID=2 /data xfs b 0 1\n", "several lines for /data: 1, 2"),
        ("UUID=1 /data ext4 nobootwait, relatime 0 2\n", "not a valid line"),
        ("UUID=1 /data ext4\n", "no options to change"),
    ],
)
def test_a_line_that_cannot_be_edited_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        edited(text)


@given(
    st.lists(_OPTION, min_size=1, max_size=6, unique=True),
    st.lists(_OPTION, max_size=3, unique=True),
    st.lists(_OPTION, max_size=3, unique=True),
)
def test_twice_is_once_and_the_others_keep_their_order(
    options: list[str], add: list[str], remove: list[str]
) -> None:
    change = SetMountOptions(
        mount_point="/data", add=tuple(add), remove=tuple(set(remove) - set(add)), was=None
    )
    once = options_after(options, change)
    assert options_after(once, change) == once
    assert set(add) <= set(once)
    kept = [option for option in once if option in options and option not in add]
    assert kept == [option for option in options if option in kept]


@given(st.text(alphabet="ab/# \t,=0\\", max_size=40), st.text(alphabet="ab/# \t,=0\\", max_size=40))
def test_what_stands_around_the_line_is_never_touched(before: str, after: str) -> None:
    line = "UUID=1 /data ext4 relatime 0 2"
    text = f"#{before}\n{line}\n#{after}"
    assert edited(text) == f"#{before}\n{line.replace('relatime', 'noatime')}\n#{after}"
