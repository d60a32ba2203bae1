"""The JSON Schema accepts what the reader accepts, and refuses what is wrong with a file's structure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mydyno import spec
from mydyno.document.source import parse, read_text

HERE = Path(__file__).parent
GOOD = [*sorted((HERE / "good").glob("*.yaml")), *sorted((HERE.parents[1] / "experiments").glob("*.yaml"))]

NOT_OF_STRUCTURE = {
    "claims": "names compared",
    "cache-of-fio": "two values that depend on each other",
    "cache-of-sql-bench": "two values that depend on each other",
    "config-fraction": "what a unit means",
    "config-line-break": "the content of a text",
    "config-spelt-twice": "two spellings of one name",
    "config-wrong-unit": "what a unit means",
    "connections-above-limit": "two values compared",
    "connections-above-limit-at-one-point": "two values compared",
    "connections-above-limit-in-one-size": "two values compared",
    "connections-downwards": "two numbers compared",
    "connections-huge": "arithmetic",
    "connections-many-phases": "arithmetic",
    "factor-duplicate-level": "level names compared",
    "factor-equal-levels": "what sizes mean",
    "factor-too-many-points": "arithmetic",
    "factors-overlap": "paths compared",
    "design-at-least-above-at-most": "two values compared",
    "design-at-most-without-until": "two values that depend on each other",
    "design-exclude-everything": "names compared",
    "design-exclude-unknown-factor": "names compared",
    "design-exclude-unknown-level": "names compared",
    "design-fraction-of-nested": "two values that depend on each other",
    "design-fraction-of-three-levels": "two values that depend on each other",
    "design-fraction-too-small": "arithmetic",
    "design-fraction-with-exclude": "two values that depend on each other",
    "design-one-at-a-time-without-its-base": "names compared",
    "design-only-and-exclude-leave-nothing": "names compared",
    "design-plackett-burman-of-one-factor": "arithmetic",
    "design-points-third": "arithmetic",
    "design-repeats-and-until": "two values that depend on each other",
    "design-size-at-most-of-repeats": "what the overlay is laid over",
    "design-size-repeats-and-until": "two values that depend on each other",
    "design-until-out-of-bounds": "arithmetic",
    "factor-equal-levels-one-at-a-time": "what sizes mean",
    "factor-nested-in-later": "names compared",
    "factor-nested-in-unknown": "names compared",
    "external-database-of-the-server": "names that a server keeps for itself",
    "external-relative-file": "the content of a text",
    "external-socket-with-port": "two values that depend on each other",
    "external-with-mysqlslap": "two values that depend on each other",
    "external-with-think-time": "names that a program knows",
    "external-with-what-mydyno-builds": "two values that depend on each other",
    "external-without-user": "two values that depend on each other",
    "raw-without-a-log-volume": "two values that depend on each other",
    "fio-depth-of-a-synchronous-engine": "two values that depend on each other",
    "fio-fsync-of-reads": "two values that depend on each other",
    "fio-job-missing": "another file",
    "fio-job-up-and-away": "another file",
    "fio-line-other-program": "the content of a text",
    "fio-line-outside-the-volume": "the content of a text",
    "fio-line-runs-a-program": "the content of a text",
    "fio-line-typographic": "the content of a text",
    "fio-line-unknown-option": "the content of a text",
    "own-file-missing": "another file",
    "slap-with-its-own-count": "two values that depend on each other",
    "sql-bench-transactions": "two values that depend on each other",
    "think-in-an-open-loop": "two values that depend on each other",
    "percent-of-nothing": "what a share means",
    "percent-out-of-bounds": "what a share means",
    "size-chosen-unknown": "the command line",
    "size-chosen-of-none": "the command line",
    "size-factor-unknown": "names compared",
    "size-other-workload": "what the overlay is laid over",
    "size-sets-twice": "paths compared",
    "transaction-without-statements": "arithmetic",
    "host-cpus-of-uml": "two values that depend on each other",
    "host-kernel-of-this-machine": "two values that depend on each other",
    "host-without-storage": "two values that depend on each other",
    "storage-chunk-idle-at-every-point": "two values that depend on each other",
    "storage-chunk-no-power-of-two": "arithmetic",
    "storage-chunk-of-a-mirror": "two values that depend on each other",
    "storage-consistency": "two values that depend on each other",
    "storage-device-in-both-volumes": "two values that depend on each other",
    "storage-device-in-two-volumes-beside-data": "two values that depend on each other",
    "storage-device-twice": "two values that depend on each other",
    "storage-device-wiped-without-serial": "two values that depend on each other",
    "storage-disks-without-array": "two values that depend on each other",
    "storage-fail-without-redundancy": "two values that depend on each other",
    "storage-files-on-raw": "what each volume is for",
    "storage-filesystem-too-small": "arithmetic",
    "storage-layout-of-a-stripe": "two values that depend on each other",
    "storage-layout-of-another-level": "two values that depend on each other",
    "storage-mount-of-fstab": "the content of a text",
    "storage-profile-of-ext4": "two values that depend on each other",
    "storage-profile-unknown": "two values that depend on each other",
    "storage-profile-with-raid": "two values that depend on each other",
    "storage-program-in-a-guest": "two values that depend on each other",
    "storage-program-in-one-guest": "two values that depend on each other",
    "storage-raw-with-mount": "two values that depend on each other",
    "storage-size-missing": "what a volume takes over from another",
    "storage-size-out-of-bounds": "arithmetic",
    "storage-too-few-disks": "two values that depend on each other",
    "storage-too-many-copies": "two values that depend on each other",
}
"""Bad files that are sound in structure, and what it takes to see what is wrong with them."""


@pytest.fixture(scope="module")
def checker() -> Draft202012Validator:
    schema = spec.json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def plain(file: Path) -> dict[str, Any]:
    return parse(read_text(file), file.name).plain()


def well_formed_bad_files() -> list[Path]:
    files = []
    for file in sorted((HERE / "bad").glob("*.yaml")):
        try:
            plain(file)
        except spec.SpecErrors:
            continue
        files.append(file)
    return files


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.stem)
def test_a_good_file_satisfies_the_schema(file: Path, checker: Draft202012Validator) -> None:
    assert [error.message for error in checker.iter_errors(plain(file))] == []


@pytest.mark.parametrize("file", well_formed_bad_files(), ids=lambda file: file.stem)
def test_a_bad_file_violates_the_schema_unless_its_structure_is_sound(
    file: Path, checker: Draft202012Validator
) -> None:
    assert checker.is_valid(plain(file)) == (file.stem in NOT_OF_STRUCTURE)


def test_every_key_of_the_schema_says_what_it_is_for() -> None:
    schema = spec.json_schema()
    sections = [schema, *(each for each in schema["$defs"].values() if "title" in each)]
    silent = [
        f"{section['title']}.{key}"
        for section in sections
        for key, value in section.get("properties", {}).items()
        if "description" not in value
    ]
    assert silent == []
