"""Whether the CPUs are slow to raise their frequency.

A governor chooses the frequency of a CPU. With most drivers `powersave` keeps the lowest; `ondemand` and
`conservative` raise it after load, when a short query is already over. With intel_pstate and amd_pstate_epp
`powersave` works differently: the processor decides by itself and nearly reaches `performance`. In a guest
the hypervisor's machine decides and there is no governor to see.
"""

from mydyno.advisor.rules import *

_SELF_DRIVING = ("intel_pstate", "amd_pstate_epp", "amd-pstate-epp")
_SLOW = {"powersave": "the lowest clock always", "conservative": "a clock that rises step by step"}
_LATE = {"ondemand": "a clock that rises after the load was seen"}


@Rule(
    checks="which governor chooses the frequency of the CPUs",
    why="A query of a millisecond is over before a slow governor raises the frequency.",
    expected="short queries run at full frequency from the start; little at full load",
    risk="more power and heat when idle",
    sources=(
        "Linux kernel documentation, CPU Performance Scaling, generic scaling governors",
        "Linux kernel documentation, intel_pstate CPU Performance Scaling Driver, active mode",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    host = require(system.host, "the governor of the CPUs")
    governor = require(
        host.cpu.governor, NotHere("the CPUs have no governor here: a guest, or the firmware decides")
    )
    driver = host.cpu.scaling_driver
    means = {**_SLOW, **_LATE}.get(governor)
    if means is None or (governor == "powersave" and driver in _SELF_DRIVING):
        return Fine(f"governor {governor}, driver {driver or 'not known'}")
    if governor == "powersave" and driver is None:
        return Unknown("the CPU frequency driver, which decides what powersave means")
    return finding(
        title=f"The CPUs are governed by {governor}: {means}",
        evidence=(f"scaling_governor = {governor}, scaling_driver = {driver or 'not known'}",),
        recommendation="run the CPUs at full frequency: performance",
        changes=by_hand(
            "set the governor performance, and keep it by your distribution's cpupower service",
            "cpupower frequency-set --governor performance",
        ),
        severity=Severity.MEDIUM if governor in _SLOW else Severity.LOW,
        effect=better("latency", "medium" if governor in _SLOW else "small"),
    )
