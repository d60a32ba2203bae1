"""What SHOW ENGINE INNODB STATUS says beyond the status variables: pure.

Read by its sections, since a deadlock's section quotes statements of users, which may say anything. Tried on
the reports of MySQL 5.6 and 9.7 and MariaDB 10.5, 10.11 and 11.8 (tests/survey/golden).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mydyno.survey.facts import Innodb

_HEADING = re.compile(r"^-{3,}\n([A-Z][A-Z /]+)\n-{3,}$", re.MULTILINE)
_DEADLOCK_TIME = re.compile(r"\A\s*(\d[\d-]+ \d+:\d\d:\d\d)")
_WAITING = re.compile(r"^--Thread \S+ has waited at ", re.MULTILINE)


def parse_innodb_report(text: str) -> Innodb:
    """The figures of one report; None for those that this release does not write."""
    sections = _sections(text)
    log = sections.get("LOG", "")
    written, checkpoint = _number(log, r"Log sequence number\s+"), _number(log, r"Last checkpoint at\s+")
    semaphores = sections.get("SEMAPHORES")
    deadlock = _DEADLOCK_TIME.search(sections.get("LATEST DETECTED DEADLOCK", ""))
    return Innodb(
        checkpoint_age_bytes=None if written is None or checkpoint is None else written - checkpoint,
        log_sequence_number=written,
        history_list_length=_number(sections.get("TRANSACTIONS", ""), r"History list length\s+"),
        queries_in_queue=_number(sections.get("ROW OPERATIONS", ""), r"\d+ queries inside InnoDB, "),
        semaphore_waits=None if semaphores is None else len(_WAITING.findall(semaphores)),
        latest_deadlock=deadlock[1] if deadlock else None,
    )


def _sections(text: str) -> Mapping[str, str]:
    """Heading -> the text below it."""
    parts = _HEADING.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _number(section: str, label: str) -> int | None:
    """The number after a label at the beginning of a line."""
    line = re.search(rf"^{label}(\d+)", section, re.MULTILINE)
    return int(line[1]) if line else None
