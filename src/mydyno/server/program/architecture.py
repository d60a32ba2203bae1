"""Whether this machine can run a program at all: what its ELF header says, before it is tried."""

from __future__ import annotations

import platform
import struct
from pathlib import Path

_MAGIC = b"\x7fELF"
_HEADER = struct.Struct("<4sBB12xH")  # magic, class, byte order, then the machine at byte 18
_LITTLE = 1

_MACHINES = {
    3: "x86",
    8: "mips",
    20: "powerpc",
    21: "ppc64le",
    22: "s390x",
    40: "arm",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
    258: "loongarch64",
}
"""e_machine -> name. Source: the registry of ELF machines in the System V ABI (gABI, chapter 4)."""

# A 64-bit kernel runs programs of its 32-bit ancestor, when their libraries are there.
_RUNS_TOO = {"x86_64": {"x86"}, "aarch64": {"arm"}}


def architecture_fault(program: Path, machine: str | None = None) -> str | None:
    """Why the file cannot run on `machine` (None: this one); None when nothing speaks against it.

    A script is as good as a program: build trees wrap servers in one.
    """
    machine = machine or platform.machine()
    with program.open("rb") as file:
        header = file.read(_HEADER.size)
    if header.startswith(b"#!"):
        return None
    if len(header) < _HEADER.size or not header.startswith(_MAGIC):
        return "is not a program: it is neither an ELF file nor a script"
    _, _, order, number = _HEADER.unpack(header)
    if order != _LITTLE:
        number = int.from_bytes(header[18:20], "big")
    made_for = _MACHINES.get(number, f"machine {number}")
    if made_for == machine or made_for in _RUNS_TOO.get(machine, ()):
        return None
    return f"is a program for {made_for}, and this machine is {machine}"
