"""Whether KVM works here: proved by booting a kernel, since a /dev/kvm that opens proves nothing.

Nested virtualisation may offer the device and then hang or abort at a guest's first instructions. The
answer is kept for this boot of the machine and this QEMU.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from mydyno.core.errors import MydynoError
from mydyno.core.writing import writing
from mydyno.machine.local import LocalHost
from mydyno.machine.vm.machine import Accelerator, base, kernel_line

PROBE_SECONDS = 8.0

ACCELERATION = "acceleration.json"
"""Where the answer is kept, in the folder of images."""

_DEVICE = Path("/dev/kvm")
_QEMU = "qemu-system-x86_64"

# A kernel without any root ends so; it says it only after it has run for a while, with interrupts.
_BOOTED = "Unable to mount root fs"


@dataclass(frozen=True)
class Acceleration:
    """What guests run with, and how that is known."""

    accelerator: Accelerator
    reason: str


def acceleration(kernel: Path, cache: Path, device: Path = _DEVICE) -> Acceleration:
    """KVM when `kernel` boots with it within 8 s, else TCG; kept in the file `cache`.

    Raises MissingToolError without QEMU, LabError when the cache cannot be written.
    """
    if not os.access(device, os.R_OK | os.W_OK):
        why = "may not be opened by this user" if device.exists() else "is not there"
        return Acceleration("tcg", f"{device} {why}")
    kept = known(cache)
    if kept is None:
        kept = _probe(kernel)
        with writing(cache):
            staged = cache.with_name(f".{cache.name}.{os.getpid()}")
            staged.write_text(json.dumps({"of": _machine(), **asdict(kept)}))
            staged.rename(cache)
    return kept


def known(cache: Path) -> Acceleration | None:
    """The answer that is kept; None when none is, or it is of another boot or another QEMU."""
    try:
        kept = json.loads(cache.read_text())
        if kept["of"] == _machine():
            return Acceleration(kept["accelerator"], kept["reason"])
    except (OSError, ValueError, KeyError, TypeError, MydynoError):
        pass
    return None


def _machine() -> str:
    version = LocalHost().run([_QEMU, "--version"]).stdout.partition("\n")[0]
    return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {version}"


def _probe(kernel: Path) -> Acceleration:
    serial = ("-chardev", "stdio,id=console", "-serial", "chardev:console")
    start = [_QEMU, *base("kvm"), "-m", "256M", "-kernel", str(kernel), "-append", kernel_line(""), *serial]
    guest = LocalHost().open(start)
    try:
        code = guest.wait(PROBE_SECONDS)
        if code is None:
            reason = f"{_DEVICE} is there, but a kernel did not boot in {PROBE_SECONDS:g} s"
            return Acceleration("tcg", reason)
        if _BOOTED in guest.stdout.read().decode(errors="replace"):
            return Acceleration("kvm", "a kernel booted with it")
        messages = guest.errors().strip().splitlines()
    finally:
        guest.close()
    first = messages[0] if messages else f"it ended with {code}"
    return Acceleration("tcg", f"{_DEVICE} is there, but QEMU cannot use it: {first}")
