"""docs/reference/super-smack.md and docs/reference/mysqlslap.md say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from lab.workload.slap.documented import oddity_table
from lab.workload.smack.documented import trap_table
from mydyno.cli.load import slap as command
from mydyno.lab.workload.slap import Options

DOCS = Path(__file__).parents[3] / "docs"


def test_every_trap_is_in_the_guide_in_the_words_of_the_warning() -> None:
    assert (DOCS / "reference" / "super-smack.md").read_text().endswith(trap_table())


def test_every_oddity_is_in_the_guide_in_the_words_of_the_note() -> None:
    assert (DOCS / "reference" / "mysqlslap.md").read_text().endswith(oddity_table())


def test_the_guide_names_only_options_of_slap_that_there_are() -> None:
    known = {f"--{name.replace('_', '-')}" for name in Options.model_fields}
    known |= {f"--{one.name.replace('_', '-')}" for one in command._OWN}
    table = (DOCS / "reference" / "mysqlslap.md").read_text().split("|---|---|\n")[1].split("\n\n")[0]
    rows = [row.split(" | ") for row in table.splitlines()]
    named = {name for _, here in rows for name in re.findall(r"`(--[a-z-]+)", here)}
    assert named
    assert named <= known
