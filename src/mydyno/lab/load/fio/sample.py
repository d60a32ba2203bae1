"""One reading of the machine that fio runs on, and of fio itself."""

from __future__ import annotations

from pathlib import Path

from mydyno.lab.load import messages
from mydyno.machine import proc
from mydyno.machine.protocol import Host


def sample(host: Host, pid: int, t_ns: int) -> messages.Sample | None:
    """None when fio, process `pid`, has just ended."""

    def read(path: str) -> str | None:
        return host.read_text(Path(path))

    stat, diskstats = read("/proc/stat"), read("/proc/diskstats")
    status, own = read(f"/proc/{pid}/status"), read(f"/proc/{pid}/stat")
    if not stat or not status or not own:
        return None
    client = proc.process(status, own, read(f"/proc/{pid}/io"))
    return messages.Sample(
        type="sample",
        status=None,
        server=None,
        client=messages.Process(**vars(client)),
        host=messages.HostCounters(
            cpu=proc.cpu_seconds(stat),
            context_switches=proc.context_switches(stat),
            disks={name: messages.Disk(**vars(disk)) for name, disk in proc.disks(diskstats or "").items()},
        ),
        t_ns=t_ns,
    )
