"""Whether the release is still supported.

After the end of its life a series gets no fixes at all, not even for security holes or data loss. The dates
are those of the vendors for their own builds: a distribution or a paid contract may support an old release
for longer, so check there first. Rolling and innovation releases are supported only until the next one.
"""

from collections.abc import Mapping
from datetime import date, timedelta

from mydyno.advisor.rules import *
from mydyno.core.server_version import Version

_SOON = timedelta(days=180)
_MARIADB: Mapping[tuple[int, int], date] = {
    (10, 0): date(2019, 3, 31), (10, 1): date(2020, 10, 17), (10, 2): date(2022, 5, 23),
    (10, 3): date(2023, 5, 25), (10, 4): date(2024, 6, 18), (10, 5): date(2025, 6, 24),
    (10, 6): date(2026, 7, 6), (10, 7): date(2023, 2, 9), (10, 8): date(2023, 5, 20),
    (10, 9): date(2023, 8, 22), (10, 10): date(2023, 11, 17), (10, 11): date(2028, 2, 16),
    (11, 0): date(2024, 6, 6), (11, 1): date(2024, 8, 21), (11, 2): date(2024, 11, 21),
    (11, 3): date(2024, 5, 29), (11, 4): date(2029, 5, 29), (11, 5): date(2024, 11, 21),
    (11, 6): date(2025, 2, 13), (11, 7): date(2025, 5, 12), (11, 8): date(2028, 6, 4),
    (12, 0): date(2025, 11, 18), (12, 1): date(2026, 2, 13), (12, 2): date(2026, 5, 13),
    (12, 3): date(2029, 6, 30),
}  # fmt: skip
_MYSQL: Mapping[tuple[int, int], date] = {
    (5, 5): date(2018, 12, 31), (5, 6): date(2021, 2, 28), (5, 7): date(2023, 10, 31),
    (8, 0): date(2026, 4, 30), (8, 1): date(2023, 10, 25), (8, 2): date(2023, 12, 14),
    (8, 3): date(2024, 4, 10), (8, 4): date(2032, 4, 30), (9, 0): date(2024, 10, 15),
    (9, 1): date(2025, 1, 21), (9, 2): date(2025, 4, 15), (9, 3): date(2025, 7, 22),
    (9, 4): date(2025, 10, 21), (9, 5): date(2026, 1, 20), (9, 6): date(2026, 4, 21),
    (9, 7): date(2034, 4, 21),
}  # fmt: skip


@Rule(
    checks="whether the release's series is still supported",
    why="After the end of support there are no fixes, not even for security.",
    expected="security holes and bugs that lose data are fixed; speed may change either way with the new "
    "release",
    risk="an upgrade changes defaults and plans: test it with your workload first",
    sources=(
        "MariaDB Foundation, Maintenance policy (mariadb.org/about)",
        "Oracle, Lifetime Support Policy, MySQL Releases",
        "endoflife.date, MySQL and MariaDB (read in May 2026)",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    release = system.server.release
    if system.server.role.managed is not None:
        return NotHere(f"{system.server.role.managed} has its own dates")
    end, today = _end(release), _day(system.read_at)
    if end is None or today is None:
        return Unknown(f"until when {release} is supported")
    if end - today > _SOON:
        return Fine(f"{release} is supported until {end}")
    over = end < today
    return finding(
        title=f"{release} is out of support since {end}"
        if over
        else f"{release} will be out of support on {end}",
        evidence=(f"the facts are from {today}; the vendor's support end{'ed' if over else 's'} on {end}",),
        recommendation="plan the upgrade to a series with long-term support",
        changes=by_hand(
            "read what the next release changes (`mydyno variables --changed-from`), try it on a copy, "
            "then upgrade"
        ),
        severity=Severity.HIGH if over else Severity.MEDIUM,
        effect=better("safety", "large" if over else "medium"),
        restart=True,
    )


def _end(release: Version) -> date | None:
    series = release.numbers[:2]
    return _MARIADB.get(series) if release.is_mariadb else _MYSQL.get(series)


def _day(read_at: str) -> date | None:
    try:
        return date.fromisoformat(read_at[:10])
    except ValueError:
        return None
