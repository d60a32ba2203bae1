"""Whether the kernel has enough asynchronous I/O requests for InnoDB.

Each server reserves its requests (256 for each I/O thread) at the start from a number that the whole
machine shares, fs.aio-max-nr (65536 unless set). When it is used up the next server falls back to slower
I/O or does not start. One server is far from the limit; several, or other databases on the machine, may
reach it. io_uring does not count here.
"""

from mydyno.advisor.rules import *

_USED = 0.8
_USUAL = 1 << 20


@Rule(
    checks="how much of the kernel's asynchronous I/O is reserved",
    why="When the machine's number of requests is used up, a server starts with slower I/O or not at all.",
    expected="the next start of a server gets asynchronous I/O; no effect below the limit",
    sources=(
        "Linux kernel documentation, Documentation for /proc/sys/fs, aio-nr and aio-max-nr",
        "MySQL Reference Manual, Using Asynchronous I/O on Linux",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    kernel = system.host.kernel if system.host else None
    most = kernel.number("fs.aio-max-nr") if kernel else None
    used = kernel.number("fs.aio-nr") if kernel else None
    if not most or used is None:
        return Unknown("fs.aio-max-nr and fs.aio-nr")
    numbers = f"{used} of {most} asynchronous requests are reserved (fs.aio-nr, fs.aio-max-nr)"
    if used < most * _USED:
        return Fine(numbers)
    wanted = max(_USUAL, power_of_two(used * 2))
    return finding(
        title=f"Asynchronous I/O of the machine is nearly used up: {used} of {most}",
        evidence=(f"{numbers}: {used / most:.0%}",),
        recommendation=f"set fs.aio-max-nr to {wanted}",
        changes=(SetSysctl(name="fs.aio-max-nr", value=str(wanted), was=str(most)),),
        severity=Severity.HIGH,
        effect=better("stability", "medium"),
    )
