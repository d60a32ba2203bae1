"""Whether innodb_dedicated_server and explicit settings are mixed.

On a machine that nothing else uses, MySQL 8.0 and later can size the buffer pool and the redo log by the
machine's memory. What an option file says itself is not sized: then half of the memory plan is the server's
and half somebody's, and the next change of the machine fits neither. One of the two is enough.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_dedicated_server"
_SIZED = ("innodb_buffer_pool_size", "innodb_redo_log_capacity", "innodb_log_file_size")
_ASKED = ("file", "command line", "persisted")


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    on = server.switch(_NAME)
    if on is None:
        return NotHere("this release does not size itself by the machine")
    if not on:
        return Fine(f"{_NAME} is OFF")
    asked = [
        name
        for name in _SIZED
        if name in server.variables
        and (origin := server.variables[name].origin) is not None
        and origin.source in _ASKED
    ]
    if not asked:
        return Fine(f"{_NAME} is ON, and nothing that it sizes is set")
    memory = (f"the machine has {format_bytes(system.host.memory.usable)}",) if system.host else ()
    return RULE.finding(
        title=f"{_NAME} is ON, and {', '.join(asked)} set as well",
        evidence=(*(f"{name} = {server.text(name)}" for name in asked), *memory),
        recommendation=f"take {_NAME} out of the option file, or those settings",
        changes=by_hand(f"decide for one: {_NAME}, or {' and '.join(asked)}"),
        severity=Severity.LOW,
        effect=better("stability", "small", "memory is planned in one place"),
        restart=True,
    )


RULE = Rule(
    checks="innodb_dedicated_server beside explicit sizes",
    why="Two plans for one memory do not add up when the machine changes.",
    expected="no surprise at the next change of the machine",
    sources=(
        'MySQL Reference Manual, "Enabling Automatic InnoDB Configuration for a Dedicated MySQL Server"',
    ),
    judge=_judge,
)
