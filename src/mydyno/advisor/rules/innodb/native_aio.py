"""Whether InnoDB uses asynchronous I/O.

With native asynchronous I/O a few threads keep hundreds of requests in flight; without, each thread has
one. It is on by default. A server turns it off by itself where the kernel refuses (fs.aio-max-nr used up, a
container that forbids io_uring, tmpfs) and says so in its error log: then setting it has no effect until
the cause is removed.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_use_native_aio"
_CONFIGURED = ("file", "command line", "persisted")


@Rule(
    checks="innodb_use_native_aio, and whether it was configured",
    why="A disk that handles hundreds of requests at once gets only one for each thread.",
    expected="more requests in flight on disks that handle many at once",
    risk="none known; if the kernel refuses, InnoDB goes on without",
    sources=(
        'MySQL Reference Manual, "Using Asynchronous I/O on Linux"',
        'MariaDB Documentation, "InnoDB Asynchronous I/O"',
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    on = require(server.switch(_NAME), _NAME)
    if on:
        return Fine(f"{_NAME} is ON")
    lies_on = system.host.storage.of("data") if system.host else None
    if lies_on is not None and lies_on.kind == "tmpfs":
        return NotHere("the data is on tmpfs, which has no asynchronous I/O")
    origin = server.variables[_NAME].origin
    configured = origin is not None and origin.source in _CONFIGURED
    cause = ByHand(
        says="find InnoDB's reason in the error log; often fs.aio-max-nr is used up",
        commands=("sysctl fs.aio-nr fs.aio-max-nr",),
    )
    changes: tuple[Change, ...] = settings(server, {_NAME: "ON"}) if configured else (cause,)
    return finding(
        title="InnoDB does synchronous I/O, one request a thread",
        evidence=(
            f"{_NAME} = OFF, "
            + (
                f"as {origin.file or origin.source} says"
                if configured and origin
                else "though no option sets it"
            ),
        ),
        recommendation=f"set {_NAME} to ON" if configured else "find out why the kernel refuses it",
        changes=changes,
        severity=Severity.MEDIUM,
        effect=better("throughput", "medium"),
        restart=True,
    )
