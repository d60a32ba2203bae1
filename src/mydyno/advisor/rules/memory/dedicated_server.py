"""Whether innodb_dedicated_server and explicit settings are mixed.

On a machine that nothing else uses, MySQL 8.0 and later can size the buffer pool and the redo log by the
machine's memory. Explicit settings are not sized: then half of the memory plan is automatic and half
manual, and neither fits when the machine changes. Use one of the two.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_dedicated_server"
_SIZED = ("innodb_buffer_pool_size", "innodb_redo_log_capacity", "innodb_log_file_size")
_ASKED = ("file", "command line", "persisted")


@Rule(
    checks="innodb_dedicated_server together with explicit sizes",
    why="Automatic and manual sizes do not add up when the machine changes.",
    expected="memory is planned in one place: no surprise when the machine changes",
    sources=(
        'MySQL Reference Manual, "Enabling Automatic InnoDB Configuration for a Dedicated MySQL Server"',
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    fine_if(server, _NAME, False, NotHere("this release does not size itself"))
    explicit = [
        name
        for name in _SIZED
        if name in server.variables
        and (origin := server.variables[name].origin) is not None
        and origin.source in _ASKED
    ]
    if not explicit:
        return Fine(f"{_NAME} is ON, without explicit sizes")
    memory = (f"the machine has {format_bytes(system.host.memory.usable)}",) if system.host else ()
    return finding(
        title=f"{_NAME} is ON, and {', '.join(explicit)} set as well",
        evidence=(*(f"{name} = {server.text(name)}" for name in explicit), *memory),
        recommendation=f"remove {_NAME} from the option file, or those settings",
        changes=by_hand(f"keep one: {_NAME}, or {' and '.join(explicit)}"),
        effect=better("stability", "small"),
        restart=True,
    )
