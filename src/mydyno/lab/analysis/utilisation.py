"""How busy the machine was over a stretch: its CPUs, its disks, the server and the client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_DISK, _BUSY = "disk.", ".busy_s"


@dataclass(frozen=True)
class Utilisation:
    """Shares of all CPU time that the machine had, 0 to 1; None where /proc was not seen.

    `user` is with nice, `system` with interrupts. `iowait` is idle time while some task waited for a disk: a
    CPU that computes hides it (proc(5): "not reliable").
    """

    user: float | None
    system: float | None
    iowait: float | None
    steal: float | None
    server_cpus: float | None
    """CPUs kept busy: 1.5 is one and a half."""
    client_cpus: float | None
    disks: Mapping[str, float]
    """Device -> share of the time in which it had something to do; only those that had."""

    @property
    def busy(self) -> float | None:
        """User and system, of every process."""
        return None if self.user is None or self.system is None else self.user + self.system

    def own(self, cpus: int) -> float | None:
        """The share of `cpus` CPUs that the server and the client took; None when one of them is unknown."""
        known = [each for each in (self.server_cpus, self.client_cpus) if each is not None]
        return min(1.0, sum(known) / cpus) if known and cpus else None


def utilisation(growth: Mapping[str, float], seconds: float) -> Utilisation | None:
    """`growth`: how far the columns of samples.parquet went in `seconds`; None when no time went by."""
    if seconds <= 0:
        return None
    modes = {mode: growth.get(f"host.cpu.{mode}_s") for mode in _MODES}
    total = sum(value for value in modes.values() if value is not None)

    def share(*names: str) -> float | None:
        known = [value for name in names if (value := modes[name]) is not None]
        return sum(known) / total if known and total > 0 else None

    def cpus(process: str) -> float | None:
        user, system = (growth.get(f"{process}.cpu_{mode}_s") for mode in ("user", "system"))
        return None if user is None or system is None else (user + system) / seconds

    return Utilisation(
        user=share("user", "nice"),
        system=share("system", "irq", "softirq"),
        iowait=share("iowait"),
        steal=share("steal"),
        server_cpus=cpus("server"),
        client_cpus=cpus("client"),
        disks={
            name.removeprefix(_DISK).removesuffix(_BUSY): min(1.0, busy / seconds)
            for name, busy in growth.items()
            if name.startswith(_DISK) and name.endswith(_BUSY) and busy > 0
        },
    )
