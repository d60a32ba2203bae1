"""docs/how-to/volumes.md says what the code does: which variable tells a server of which volume."""

from __future__ import annotations

import re
from pathlib import Path

from lab.stack.builders import mariadb, mysql
from mydyno.core.facts import HostFacts
from mydyno.core.server_files import VOLUMES, home_of
from mydyno.lab import plan, spec
from mydyno.lab.plan.data_size import BINARY_LOG_BYTES, TEMPORARY_BYTES, UNDO_BYTES
from mydyno.server.program.file_places import KINDS, UNDO_TABLESPACES, Place

GUIDE = (Path(__file__).parents[3] / "docs" / "how-to" / "volumes.md").read_text("utf-8")


def test_the_table_of_volumes_names_the_variables_that_are_set() -> None:
    rows = {
        found[1]: found[2] for found in re.finditer(r"^\| `(\w+)` \| .* \| (.*) \|$", GUIDE, re.MULTILINE)
    }
    assert tuple(rows) == VOLUMES
    for kind in KINDS:
        names = kind.settings(Place(Path("/"), Path("/")))
        assert re.findall(r"`(\w+)`", rows[home_of(kind.name, VOLUMES)]) == list(names)
        assert names.keys() <= mariadb().options.keys() | mysql().options.keys()


def test_the_experiment_of_the_guide_is_accepted_and_planned() -> None:
    [block] = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    made = plan.make(spec.loads(block, "volumes.md"), HostFacts(16 << 30, 2, 100 << 30))
    assert [len(point.setup.storage.volumes) for point in made.points if point.setup.storage] == [1, 2, 5]


def test_the_numbers_of_the_guide_are_those_of_the_code() -> None:
    text = " ".join(GUIDE.split())
    assert f"`innodb_undo_tablespaces={UNDO_TABLESPACES}`" in text
    assert f"undo tablespaces {UNDO_BYTES >> 20}M, temporary files {TEMPORARY_BYTES >> 20}M" in text
    assert f"a binary log of {BINARY_LOG_BYTES >> 20}M" in text
