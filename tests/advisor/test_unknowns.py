"""What is not known never makes a finding, and what it withholds is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.builders import GIB, MARIADB, MYSQL_84, a_role, host, server, system
from advisor.strategies import Case, cases
from mydyno.advisor import advise
from mydyno.advisor.advice import judgements
from mydyno.advisor.rule import Fine, NotHere, Unknown
from mydyno.advisor.unknowns import HIDDEN_TABLES, ROLES
from mydyno.apply.finding import Finding, Severity
from mydyno.survey.facts import Role, Schema, Server, Storage, System, Table

NOW = "2026-11-21T12:00:00Z"
_QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

Erase = Callable[[System], System]


def _of_server(**values: Any) -> Erase:
    return lambda system: system.model_copy(update={"server": system.server.model_copy(update=values)})


def _of_role(name: str) -> Erase:
    return lambda system: _of_server(role=system.server.role.model_copy(update={name: None}))(system)


def _of_schema(**values: Any) -> Erase:
    def erase(system: System) -> System:
        schema = system.server.schema_facts
        return system if schema is None else _of_server(schema_facts=schema.model_copy(update=values))(system)

    return erase


def _of_host(**values: Any) -> Erase:
    def erase(system: System) -> System:
        found = system.host
        return (
            system if found is None else system.model_copy(update={"host": found.model_copy(update=values)})
        )

    return erase


def _of_memory(**values: Any) -> Erase:
    def erase(system: System) -> System:
        if system.host is None:
            return system
        return _of_host(memory=system.host.memory.model_copy(update=values))(system)

    return erase


ERASED: dict[str, Erase] = {
    **{name: _of_role(name) for name in ROLES},
    "the schema": _of_server(schema_facts=None),
    "a part of the schema": _of_schema(partial=True),
    **{
        name: _of_schema(**{name: None})
        for name in (
            *("bytes_by_engine", "tables_by_engine", "without_primary_key", "other_engines", "fragmented"),
            *("nearly_full_counters", "unused_indexes", "redundant_indexes"),
        )
    },
    "InnoDB's report": _of_server(innodb=None),
    "the plugins": _of_server(plugins=None),
    "the host": lambda system: system.model_copy(update={"host": None}),
    "the process": _of_host(process=None),
    "free memory": _of_memory(available=None),
    "swap": _of_memory(swap_total=None, swap_free=None),
    "the storage": _of_host(storage=Storage()),
    "the container": _of_host(container=None),
    "systemd": _of_host(systemd=None),
}


def rules(system: System) -> set[str]:
    return {found.rule for found in advise(system, NOW).findings}


@settings(max_examples=40, suppress_health_check=_QUIET, derandomize=True, deadline=None)
@given(cases(), st.sets(st.sampled_from(sorted(ERASED)), min_size=1, max_size=3))
def test_no_finding_comes_from_a_fact_that_is_not_known(case: Case, names: set[str]) -> None:
    blinded = case.system
    for name in sorted(names):
        blinded = ERASED[name](blinded)
    assert rules(blinded) - rules(case.system) == set(), names


def without_rights(**more: Any) -> Server:
    """What an account with USAGE alone is shown."""
    return server(
        MYSQL_84,
        {"log_bin": "OFF", "gtid_mode": "OFF", "innodb_buffer_pool_size": str(GIB), "read_only": "OFF"},
        role=Role(galera=False, group_replication=False),
        **more,
    )


def test_a_role_that_is_not_known_withholds_what_rests_on_it_and_says_so() -> None:
    judged = judgements(system(without_rights()))
    assert judged["replica-crash-safety"] == Unknown(ROLES["replica"])
    assert judged["gtid"] == Unknown(f"{ROLES['replica']}, {ROLES['source']}")
    assert judged["binary-log-off"] == Unknown(ROLES["replica"])


def test_what_holds_in_every_role_is_found_with_the_mildest_severity() -> None:
    def found(role: Role) -> Finding:
        unsynced = server(MARIADB, {"log_bin": "ON", "sync_binlog": "0"}, role=role)
        judged = judgements(system(unsynced))["binary-log-sync"]
        assert isinstance(judged, Finding)
        return judged

    assert found(a_role()).severity is Severity.HIGH
    assert found(Role()).severity is Severity.MEDIUM


def test_of_a_part_of_the_schema_what_is_seen_is_found_and_what_is_not_is_unknown() -> None:
    table = Table(name="shop.notes", engine="MyISAM", data_bytes=1)
    part = Schema(
        tables=1,
        partial=True,
        bytes_by_engine={"MyISAM": 1},
        tables_by_engine={"MyISAM": 1},
        other_engines=(table,),
        without_primary_key=(),
    )
    judged = judgements(system(server(schema_facts=part)))
    assert isinstance(judged["myisam-tables"], Finding)
    assert judged["tables-without-primary-key"] == Unknown(HIDDEN_TABLES)
    assert judged["other-engines"] == Unknown(HIDDEN_TABLES)
    assert isinstance(judged["fragmented-tables"], Unknown)


@pytest.mark.parametrize("schema", [None, Schema(tables=1, partial=True, bytes_by_engine={"InnoDB": 9})])
@pytest.mark.parametrize("pool", [GIB, 4 * GIB, 40 * GIB])
def test_a_part_of_the_data_never_makes_the_pool_small(pool: int, schema: Schema | None) -> None:
    variables = {"innodb_buffer_pool_size": str(pool), "max_connections": "151"}
    seen = server(MARIADB, variables, {"Max_used_connections": 17.0}, schema_facts=schema)
    judged = judgements(system(seen, host(16 * GIB)))["buffer-pool-size"]
    if pool < 16 * GIB:
        assert isinstance(judged, Unknown)
        assert "size of InnoDB's tables" in judged.missing
    else:
        assert isinstance(judged, Finding)
        assert judged.changes[0].sentence().startswith("innodb_buffer_pool_size = 13G"), "what fits"


def test_known_facts_are_judged_as_before() -> None:
    known = judgements(system(server(MARIADB, {"log_bin": "ON", "sync_binlog": "1"}, role=a_role())))
    assert isinstance(known["binary-log-sync"], Fine)
    assert isinstance(known["replica-crash-safety"], NotHere)
