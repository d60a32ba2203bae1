"""What the rules on session buffers share: one variable, compared with its target."""

from mydyno.advisor.rule import Fine, Judgement, Unknown, better, finding
from mydyno.advisor.setting import settings
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Severity
from mydyno.core.units import format_bytes
from mydyno.survey.facts import System


def judge_buffer(name: str, system: System, targets: Targets, use: str, more: str) -> Judgement:
    """A finding where the buffer is larger than decided; `use`: how much it is used, `more`: what a session
    that needs more does."""
    server = system.server
    now, wanted = server.number(name), targets.session_buffers.get(name)
    if now is None or wanted is None:
        return Unknown(name)
    changes = settings(server, {name: wanted})
    if not changes:
        return Fine(f"{format_bytes(now)} for each session that needs it; {use}")
    limit = targets.max_connections or server.number("max_connections")
    evidence = [f"{name} = {format_bytes(now)}; {use}"]
    if limit:
        evidence.append(f"{limit} connections x {format_bytes(now)} = {format_bytes(limit * now)} at worst")
    short = targets.fits is not None and (targets.memory_now_bytes or 0) > (targets.usable_bytes or 0)
    return finding(
        title=f"Every session may allocate {format_bytes(now)} of {name}",
        evidence=(*evidence, *(targets.memory_lines if short else ())),
        recommendation=f"set {name} to {format_bytes(wanted)}; {more}",
        changes=changes,
        severity=Severity.MEDIUM if short else Severity.LOW,
        effect=better(
            "memory",
            "medium" if short else "small",
            "the worst case of all sessions fits in memory"
            if short
            else "less memory at peaks and cheaper allocations; no statement needs as much",
        ),
        risk="a few large statements need more passes or use the disk",
    )
