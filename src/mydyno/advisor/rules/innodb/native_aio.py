"""Whether I/O is handed to the kernel without a thread waiting for it.

With native asynchronous I/O a few threads keep hundreds of requests under way; without, each thread has
one. It is on by default. A server turns it off by itself where the kernel refuses (fs.aio-max-nr used up, a
container that forbids io_uring, tmpfs) and says so in its error log: then setting it changes nothing, the
cause has to be removed.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_use_native_aio"
_ASKED = ("file", "command line", "persisted")


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    on = server.switch(_NAME)
    if on is None:
        return Unknown(_NAME)
    if on:
        return Fine(f"{_NAME} is ON")
    lies_on = system.host.storage.of("data") if system.host else None
    if lies_on is not None and lies_on.kind == "tmpfs":
        return NotHere("the data lies on tmpfs, which has no asynchronous I/O")
    origin = server.variables[_NAME].origin
    asked = origin is not None and origin.source in _ASKED
    cause = ByHand(
        says="look into the error log for the reason that InnoDB gives; often fs.aio-max-nr is used up",
        commands=("sysctl fs.aio-nr fs.aio-max-nr",),
    )
    changes: tuple[Change, ...] = settings(server, {_NAME: "ON"}) if asked else (cause,)
    return RULE.finding(
        title="InnoDB does its I/O one request a thread",
        evidence=(
            f"{_NAME} = OFF, "
            + (
                f"as {origin.file or origin.source} says"
                if asked and origin
                else "though nobody is known to ask"
            ),
        ),
        recommendation=f"set {_NAME} to ON" if asked else "find out why the kernel refuses it",
        changes=changes,
        severity=Severity.MEDIUM,
        effect=better("throughput", "medium", "more requests under way on fast disks"),
        restart=True,
    )


RULE = Rule(
    checks="innodb_use_native_aio, and whether it was asked for",
    why="A disk that could do a hundred requests at a time gets as many as there are threads.",
    expected="more I/O on disks that can do many requests at a time",
    risk="none known; a kernel that refuses it makes InnoDB go on without",
    sources=(
        'MySQL Reference Manual, "Using Asynchronous I/O on Linux"',
        'MariaDB Documentation, "InnoDB Asynchronous I/O"',
    ),
    judge=_judge,
    variables=(_NAME,),
)
