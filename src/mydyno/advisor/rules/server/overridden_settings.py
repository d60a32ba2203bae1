"""Settings that option files contain more than once.

A server reads its files in a fixed order, and the last line that names a variable wins, whatever file it is
in; SET PERSIST and the command line win over all. Editing the line that loses has no effect. The lines in
mydyno's own file are meant to win and are not reported.
"""

from mydyno.advisor.names import is_ours, place
from mydyno.advisor.rules import *

_WRITTEN = ("file", "command line", "persisted")
"""Sources that a line can lose to. A few variables (log_bin) follow from a line and are reported as "
"compiled."""


@Rule(
    checks="variables that several lines of option files set",
    why="Only the last line counts; the others mislead readers.",
    expected="option files that show what is in force",
    sources=(
        "MySQL Reference Manual, Using Option Files; Persisted System Variables",
        "MariaDB Documentation, Configuring MariaDB with Option Files",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
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
        return Fine("each setting is set once")
    lines = [
        f"{name}: {place(origin)} wins over {', '.join(origin.overridden)}" for name, origin in lost.items()
    ]
    return finding(
        title=f"{counted(len(lost), 'setting', 'is')} set more than once, and only the last line counts",
        evidence=tuple(lines[:SHOWN]),
        recommendation="keep one line for each",
        changes=tuple(
            ByHand(says=f"remove {name} from {', '.join(origin.overridden)}, which {place(origin)} overrides")
            for name, origin in list(lost.items())[:SHOWN]
        ),
        effect=better("insight", "small"),
    )
