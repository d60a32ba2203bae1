"""Settings that option files say more than once.

A server reads its files in an order of its own, and the last line that names a variable wins, whatever
file it is in; what SET PERSIST has kept, and the command line, win over all. Who edits the line that loses
restarts the server and wonders. The lines in mydyno's own file are meant to win and are not told here.
"""

from mydyno.advisor.option_places import is_ours, place
from mydyno.advisor.rules import *

_WRITTEN = ("file", "command line", "persisted")
"""Sources that a line can lose to. A few variables (log_bin) follow from a line and are told as compiled."""


def _judge(system: System, _: Targets) -> Judgement:
    origins = {
        name: known.origin for name, known in system.server.variables.items() if known.origin is not None
    }
    if not origins:
        return Unknown("where settings come from")
    lost = {
        name: origin
        for name, origin in sorted(origins.items())
        if origin.overridden
        and origin.source in _WRITTEN
        and not any(map(is_ours, (place(origin), *origin.overridden)))
    }
    if not lost:
        return Fine("each setting is written once")
    lines = [
        f"{name}: {place(origin)} wins over {', '.join(origin.overridden)}" for name, origin in lost.items()
    ]
    return RULE.finding(
        title=f"{counted(len(lost), 'setting', 'is')} written more than once, and only the last line counts",
        evidence=tuple(lines[:SHOWN]),
        recommendation="keep the line that is meant",
        changes=tuple(
            ByHand(says=f"take {name} out of {', '.join(origin.overridden)}, which {place(origin)} overrides")
            for name, origin in list(lost.items())[:SHOWN]
        ),
        severity=Severity.LOW,
        effect=better("insight", "small", "the option file says what is in force"),
    )


RULE = Rule(
    checks="variables that several lines of option files set",
    why="Only the last line counts; the others mislead who reads or edits them.",
    expected="option files that tell the truth",
    sources=(
        "MySQL Reference Manual, Using Option Files; Persisted System Variables",
        "MariaDB Documentation, Configuring MariaDB with Option Files",
    ),
    judge=_judge,
)
