"""The JSON Schema accepts what the reader accepts, and refuses what is wrong with a file's structure."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta

from mydyno.core.document.source import parse, read_text
from mydyno.lab import spec
from mydyno.server.releases import KNOWN

HERE = Path(__file__).parent
GOOD = [*sorted((HERE / "good").glob("*.yaml")), *sorted((HERE.parents[2] / "experiments").glob("*.yaml"))]

NOT_OF_STRUCTURE = {
    "search-condition": "paths compared",
    "search-cost-without-prices": "two values that depend on each other",
    "search-data-file-path": "what a variable means",
    "search-durability": "what a variable means",
    "search-memory": "two values compared",
    "search-page-size": "what a variable means",
    "search-prices-of-nothing": "arithmetic",
    "search-prices-without-cost": "two values that depend on each other",
    "search-range-of-nothing": "two numbers compared",
    "claims": "names compared",
    "cache-of-fio": "two values that depend on each other",
    "cache-of-sql-bench": "two values that depend on each other",
    "config-fraction": "what a unit means",
    "config-line-break": "the content of a text",
    "config-spelt-twice": "two spellings of one name",
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
    "size-chosen-unknown": "the command line",
    "size-chosen-of-none": "the command line",
    "size-factor-unknown": "names compared",
    "size-other-workload": "what the overlay is laid over",
    "size-sets-twice": "paths compared",
    "transaction-without-statements": "arithmetic",
    "host-cpus-of-uml": "two values that depend on each other",
    "host-far-external": "two values that depend on each other",
    "host-far-program": "two values that depend on each other",
    "host-far-trace": "two values that depend on each other",
    "host-far-with-release": "two values that depend on each other",
    "host-far-with-kernel": "two values that depend on each other",
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
    "storage-trace-in-a-guest": "two values that depend on each other",
    "storage-raw-with-mount": "two values that depend on each other",
    "storage-size-missing": "what a volume takes over from another",
    "storage-size-out-of-bounds": "arithmetic",
    "storage-too-few-disks": "two values that depend on each other",
    "storage-too-many-copies": "two values that depend on each other",
    "load-hosts-too-few-connections": "two values that depend on each other",
    "load-hosts-with-trace": "two values that depend on each other",
    "load-hosts-with-external": "two values that depend on each other",
    "load-hosts-with-fleet": "two values that depend on each other",
    "load-hosts-with-guest": "two values that depend on each other",
    "load-hosts-with-network": "two values that depend on each other",
    "load-hosts-with-sql-bench": "two values that depend on each other",
    "load-hosts-with-sysbench": "two values that depend on each other",
    "load-hosts-without-address": "two values that depend on each other",
}
"""Bad files that are sound in structure, and what it takes to see what is wrong with them."""


@pytest.fixture(scope="module")
def checker() -> Draft202012Validator:
    schema = spec.json_schema(KNOWN)
    meta.validate(schema)
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


def patterns(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for each in node:
            yield from patterns(each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "pattern" and isinstance(value, str):
                yield value
            if key == "patternProperties":
                yield from value
            yield from patterns(value)


def test_every_pattern_is_one_of_ecma_262_as_strict_validators_read_it() -> None:
    """JSON Schema Core, 6.4 "Regular Expressions": valid according to ECMA-262, with its flag u."""
    written = sorted(set(patterns(spec.json_schema(KNOWN))))
    assert len(written) > 20
    # A backslash may stand before a character of the syntax, or begin a class or a number only.
    strange = [each for each in written if re.search(r"\\\\[^\^$\\\\.*+?()\[\]{}|/dDsSwWbBtnrfv0-9]", each)]
    assert strange == []


def test_every_pattern_compiles_in_javascript() -> None:
    if (node := shutil.which("node")) is None:
        pytest.skip("node is not installed")
    program = """
        const wrong = [];
        for (const each of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
            try { new RegExp(each, "u"); } catch (error) { wrong.push(error.message); }
        }
        console.log(JSON.stringify(wrong));
    """
    given = json.dumps(sorted(set(patterns(spec.json_schema(KNOWN)))))
    done = subprocess.run([node, "-e", program], input=given, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def with_config(config: dict[str, Any], release: str = "system") -> dict[str, Any]:
    return {
        "experiment": "x",
        "setup": {"server": {"release": release, "config": config}},
        "workload": {"smack": {}, "connections": 1, "each": {"rounds": 1}},
    }


@pytest.mark.parametrize(
    "config",
    [
        {"innodb_flush_log_at_trx_commit": 2, "innodb_buffer_pool_size": "25% of memory", "log_bin": False},
        {"max_connections": "4K", "performance_schema": "ON", "long_query_time": 0.5, "sql_mode": ""},
        {"innodb-buffer-pool-size": "64M", "of_a_plugin": "whatever", "tx_isolation": "READ-COMMITTED"},
    ],
)
def test_values_of_variables_are_taken_in_all_spellings(
    config: dict[str, Any], checker: Draft202012Validator
) -> None:
    assert [error.message for error in checker.iter_errors(with_config(config))] == []


@pytest.mark.parametrize(
    "config",
    [{"max_connections": "many"}, {"innodb_buffer_pool_size": "big"}, {"innodb_file_per_table": "sometimes"}],
)
def test_a_word_for_a_number_or_a_switch_is_refused(
    config: dict[str, Any], checker: Draft202012Validator
) -> None:
    assert not checker.is_valid(with_config(config))
    (name, value) = next(iter(config.items()))
    varied = with_config({}) | {"factors": {f"server.config.{name}": [value, 1]}}
    assert not checker.is_valid(varied)


def test_a_variable_reports_what_it_means_and_which_releases_have_it() -> None:
    schema = spec.json_schema(KNOWN)
    result = schema["$defs"]["variables"]["properties"]["query_cache_size"]["description"]
    assert "MySQL removed it in 8.0.3" in result
    lacking = {
        each["if"]["properties"]["release"]["const"]: each["then"]["properties"]["config"]["properties"]
        for each in schema["$defs"]["Server"]["allOf"]
    }
    assert set(lacking) == set(KNOWN)
    assert lacking["mysql-9.7"]["query_cache_size"]["deprecated"]
    assert "query_cache_size" not in lacking["mysql-5.6"]
    assert "query_cache_size" not in lacking["mariadb-10.11"]
