from pathlib import Path

import pytest

from mydyno.server.program.binary import architecture_fault


def elf(path: Path, machine: int, order: str = "little") -> Path:
    kind = b"\x02" + (b"\x01" if order == "little" else b"\x02")
    number = machine.to_bytes(2, "little" if order == "little" else "big")
    path.write_bytes(b"\x7fELF" + kind + bytes(10) + bytes(2) + number + bytes(40))
    return path


def test_this_machines_own_programs_are_fine() -> None:
    assert architecture_fault(Path("/bin/sh").resolve()) is None


@pytest.mark.parametrize(("machine", "number"), [("x86_64", 62), ("x86_64", 3), ("aarch64", 183)])
def test_a_program_of_the_machine_or_of_its_ancestor_is_fine(
    tmp_path: Path, machine: str, number: int
) -> None:
    assert architecture_fault(elf(tmp_path / "mysqld", number), machine) is None


@pytest.mark.parametrize(
    ("number", "order", "name"),
    [
        (183, "little", "aarch64"),
        (22, "big", "s390x"),
        (20, "big", "powerpc"),
        (999, "little", "machine 999"),
    ],
)
def test_a_program_of_another_machine_is_named(tmp_path: Path, number: int, order: str, name: str) -> None:
    fault = architecture_fault(elf(tmp_path / "mysqld", number, order), "x86_64")
    assert fault == f"is a program for {name}, and this machine is x86_64"


@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF", b"MZ\x90\x00" + bytes(60), b"text that is long enough to be"]
)
def test_what_is_not_a_program_is_reported(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mysqld"
    path.write_bytes(content)
    assert architecture_fault(path) == "is not a program: it is neither an ELF file nor a script"


def test_a_script_may_start_the_server(tmp_path: Path) -> None:
    path = tmp_path / "mysqld"
    path.write_text("#!/bin/sh\n")
    assert architecture_fault(path) is None
