"""Whether the whole machine may have as many files open as it needs.

fs.file-max bounds all processes together; when it is reached, open and accept fail everywhere. Current
kernels set it so high that it never matters; old guides and images lower it.
"""

from mydyno.advisor.rules import *

_USED = 0.8


@Rule(
    checks="the number of files that all processes together may have open",
    why="When it is reached, every process fails to open files and to accept connections.",
    expected="no connection or table is refused for lack of a file handle; no effect below the limit",
    sources=("Linux kernel documentation, Documentation for /proc/sys/fs, file-max and file-nr",),
)
def rule(system: System, targets: Targets) -> Judgement:
    kernel = system.host.kernel if system.host else None
    most = kernel.number("fs.file-max") if kernel else None
    handles = kernel.sysctls.get("fs.file-nr", "").split() if kernel else []
    if most is None or not handles or not handles[0].isdigit():
        return Unknown("fs.file-max and fs.file-nr")
    used, server = int(handles[0]), targets.open_files or 0
    need = max(used, server)
    numbers = f"{used} files are open on the machine, the server may need {server}; fs.file-max is {most}"
    if need < most * _USED:
        return Fine(numbers)
    wanted = power_of_two(need * 4)
    return finding(
        title=f"The machine may open {most} files in all, and needs {need}",
        evidence=(numbers,),
        recommendation=f"set fs.file-max to {wanted}",
        changes=(SetSysctl(name="fs.file-max", value=str(wanted), was=str(most)),),
        severity=Severity.HIGH,
        effect=better("stability", "medium"),
    )
