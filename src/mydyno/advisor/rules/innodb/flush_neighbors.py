"""Whether pages beside a dirty page are written along with it.

On a rotating disk the way to a page is dear and its neighbours come nearly free. A solid-state disk has no
way to go: neighbours only add writes and wear. Off by default since MySQL 8.0; MariaDB ignores it by
itself where it finds that a file lies on a solid-state disk (MDEV-17380).
"""

from mydyno.advisor.innodb import solid_state
from mydyno.advisor.rules import *

_NAME = "innodb_flush_neighbors"


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    now, fast = server.number(_NAME), solid_state(system)
    if now is None or fast is None:
        return Unknown(_NAME if now is None else "whether the data's disks rotate")
    if fast and server.release.is_mariadb:
        return Fine("MariaDB ignores it on solid-state disks")
    wanted = 0 if fast else 1
    if (now > 0) == (wanted > 0):
        return Fine(f"{_NAME} is {now}, and the data's disks {'do not ' if fast else ''}rotate")
    changes = settings(server, {_NAME: wanted})
    return RULE.finding(
        title="Pages beside a dirty page are written too, on disks where each write costs the same"
        if fast
        else "Each dirty page is written by itself, on disks where the way to it is what costs",
        evidence=(f"{_NAME} = {now}", f"the data's disks {'do not ' if fast else ''}rotate"),
        recommendation=f"set {_NAME} to {wanted}",
        changes=changes,
        severity=Severity.LOW,
        effect=better(
            "throughput", "small", "fewer needless writes" if fast else "fewer movements of the disk's head"
        ),
    )


RULE = Rule(
    checks="innodb_flush_neighbors against the kind of the data's disks",
    why="Neighbours are cheap to write on rotating disks and a waste on others.",
    expected="some writes less, or some movements of the head less",
    sources=(
        'MySQL Reference Manual, "Configuring Buffer Pool Flushing"; worklog 9631',
        "MariaDB, MDEV-17380",
    ),
    judge=_judge,
    variables=(_NAME,),
)
