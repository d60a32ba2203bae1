import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.machine.vm.initrd import Entry, archive, file, folder


def read(data: bytes) -> list[Entry]:
    """The entries of a newc archive, read as the kernel's page describes it."""
    entries: list[Entry] = []
    position = 0

    def take(count: int) -> bytes:
        nonlocal position
        piece = data[position : position + count]
        assert len(piece) == count
        position += count
        return piece

    while True:
        assert position % 4 == 0
        assert take(6) == b"070701"
        fields = [int(take(8), 16) for _ in range(13)]
        name = take(fields[11])
        assert name.endswith(b"\0")
        take(-position % 4)
        content = take(fields[6])
        take(-position % 4)
        if name == b"TRAILER!!!\0":
            assert position == len(data)
            return entries
        assert fields[2:4] == [0, 0]
        assert fields[5] == 0
        entries.append(Entry(name[:-1].decode(), fields[1], content))


def test_files_and_folders_are_there_with_their_modes() -> None:
    entries = [folder("dev"), folder("tmp", 0o1777), file("init", b"\x7fELF", 0o755)]
    assert read(b"".join(archive(entries))) == entries
    assert stat.S_ISDIR(entries[1].mode)
    assert stat.S_IMODE(entries[2].mode) == 0o755


@given(st.dictionaries(st.text("abc/é", min_size=1, max_size=9), st.binary(max_size=20), max_size=6))
def test_whatever_is_put_in_comes_out(files: dict[str, bytes]) -> None:
    entries = [file(name, content) for name, content in files.items()]
    assert read(b"".join(archive(entries))) == entries


def test_a_name_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="init"):
        list(archive([file("init", b""), file("init", b"")]))
