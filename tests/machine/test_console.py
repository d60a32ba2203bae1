from mydyno.machine.channel import telling_end

PANIC = """\
sysrq: Trigger a crash
Kernel panic - not syncing: sysrq triggered crash
CPU: 0 PID: 710 Comm: sh Not tainted 6.1.176 #1
Stack:
 606944ba 607e7fcd 78733b80 6067bb96
 00000016 607e7fcd 60045fda 60a4d154
Call Trace:
 [<606944ba>] ? _printk+0x0/0x94
 __schedule+0x2eb/0x8d0

Aborted
"""


def test_a_panic_is_reported_without_its_addresses() -> None:
    assert telling_end(PANIC) == [
        "sysrq: Trigger a crash",
        "Kernel panic - not syncing: sysrq triggered crash",
        "CPU: 0 PID: 710 Comm: sh Not tainted 6.1.176 #1",
        "Aborted",
    ]


def test_only_the_end_of_a_long_console_is_reported() -> None:
    assert telling_end("\n".join(f"line {number}" for number in range(100)))[0] == "line 88"
    assert telling_end("") == []
