"""Whether neighbours of a dirty page are written along with it.

On a rotating disk the seek to a page is expensive and its neighbours are nearly free. A solid-state disk
does not seek: neighbours only add writes and wear. Off by default since MySQL 8.0; MariaDB ignores it where
a file is on a solid-state disk (MDEV-17380).
"""

from mydyno.advisor.innodb import solid_state
from mydyno.advisor.rules import *

_NAME = "innodb_flush_neighbors"


@Rule(
    checks="innodb_flush_neighbors compared with the kind of the data's disks",
    why="Neighbours are cheap to write on rotating disks and wasted writes on others.",
    expected="fewer writes, or fewer seeks",
    sources=(
        'MySQL Reference Manual, "Configuring Buffer Pool Flushing"; worklog 9631',
        "MariaDB, MDEV-17380",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    fast = require(solid_state(system), "whether the data's disks rotate")
    if fast and server.release.is_mariadb:
        return Fine("MariaDB ignores it on solid-state disks")
    wanted = 0 if fast else 1
    if (now > 0) == (wanted > 0):
        return Fine(f"{_NAME} is {now}, and the data's disks {'do not ' if fast else ''}rotate")
    return finding(
        title="Neighbours of dirty pages are written too, on disks where each write costs the same"
        if fast
        else "Each dirty page is written alone, on disks where the seek is what costs",
        evidence=(f"{_NAME} = {now}", f"the data's disks {'do not ' if fast else ''}rotate"),
        recommendation=f"set {_NAME} to {wanted}",
        changes=settings(server, {_NAME: wanted}),
        effect=better("throughput", "small", "fewer needless writes" if fast else "fewer seeks"),
    )
