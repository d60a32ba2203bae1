"""Which server variables a file may set only with --trust, and which it may never set."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mydyno.core.document.source import parse
from mydyno.core.document.tree import walk
from mydyno.core.server_variables import CONTROLLED, IN_DATA_DIRECTORY
from mydyno.lab import spec
from mydyno.lab.spec.config_value import ConfigValue
from mydyno.lab.spec.trust import trust_needed
from mydyno.server.variables import catalogue

EXPERIMENTS = Path(__file__).parents[3] / "experiments"


@pytest.mark.parametrize(
    "name",
    [
        *("plugin_dir", "plugin-dir", "loose_plugin-dir", "loose-loose-plugin-dir", "plugin-load"),
        *("plugin_load_add", "early-plugin-load", "plugin-evil", "skip_plugin_dir", "plugin_maturity"),
        *("wsrep_provider", "wsrep_notify_cmd", "wsrep_sst_method", "wsrep-cluster-address"),
        *("character_sets_dir", "language", "des_key_file", "ft_stopword_file"),
        *("init_connect", "init_slave", "init-replica"),
        *("ssl-ca", "ssl_key", "admin_ssl_cert", "mysqlx_ssl_key", "sha256_password_private_key_path"),
        *("keyring_file_data", "loose-keyring-vault-config", "file_key_management_filename"),
        *("validate_password.dictionary_file", "audit_log_file", "server_audit_file_path"),
        *("debug", "innodb_redo_log_archive_dirs", "innodb_parallel_doublewrite_path", "rocksdb_wal_dir"),
        *("feedback_url", "group_replication_group_seeds", "utility_user", "unheard_of_plugin_file"),
    ],
)
def test_a_variable_that_loads_code_or_uses_other_files_needs_trust(name: str) -> None:
    assert trust_needed(name, ConfigValue("/tmp/x"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_connections", 100),
        ("connect_timeout", 5),
        ("optimizer_switch", "mrr=on"),
        ("innodb_flush_method", "O_DIRECT"),
        ("innodb_file_per_table", "ON"),
        ("aria_sync_log_dir", "NEWFILE"),
        ("innodb_data_file_path", "ibdata1:12M:autoextend"),
        ("slow_query_log_file", "slow.log"),
        ("log_bin", "binlog"),
        ("log_bin", True),
        ("tls_version", "TLSv1.2"),
    ],
)
def test_other_settings_need_none(name: str, value: str | int) -> None:
    assert trust_needed(name, ConfigValue(value)) is None


def test_a_place_in_the_data_directory_of_another_s_server_needs_trust() -> None:
    assert trust_needed("general_log_file", ConfigValue("ibdata1"), external=True)
    assert trust_needed("log_bin", ConfigValue(True), external=True) is None


@pytest.mark.parametrize(
    "setting",
    [
        *("datadir: /tmp/x", "loose_datadir: /tmp/x", "tmpdir: /tmp", "basedir: /tmp", "log_error: /tmp/x"),
        *("secure-file-priv: /", "user: root", "chroot: /", "init_file: /tmp/x.sql", "socket: /tmp/s"),
        *("defaults_extra_file: /tmp/x.cnf", "general_log_file: ~/.bashrc", "innodb_undo_directory: /tmp"),
        *("general_log_file: /home/dba/.bashrc", "loose-slow_query_log_file: ../../x", "log_bin: /tmp/x"),
        "innodb_data_file_path: 'ibdata1:12M;/tmp/x:12M:autoextend'",
        "innodb_data_file_path: 'sda:10Gnewraw'",
    ],
)
def test_what_belongs_to_mydyno_or_leaves_the_data_directory_is_refused_always(setting: str) -> None:
    text = (
        f"experiment: x\nsetup:\n  server:\n    config: {{{setting}}}\n"
        "workload: {idle: {}, connections: 1, each: {measure: 1s}}\n"
    )
    with pytest.raises(spec.SpecErrors, match=r"x\.yaml:4:\d+: .*(may not set|outside the data dir)"):
        spec.loads(text, "x.yaml")


def test_every_place_that_the_catalogue_knows_has_been_decided_about() -> None:
    ends = ("_dir", "_dirs", "_directory", "_file", "_path", "_paths", "_filename", "datadir", "socket")
    places = {name for name in catalogue().variables if name.endswith(ends)}
    assert len(places) > 20
    free = {name for name in places if not trust_needed(name, ConfigValue("/tmp/x"))}
    assert free - IN_DATA_DIRECTORY - CONTROLLED.keys() == {
        "aria_sync_log_dir", "innodb_buffer_pool_in_core_file", "innodb_validate_tablespace_paths",
    }  # fmt: skip


@pytest.mark.parametrize("file", sorted(EXPERIMENTS.glob("*.yaml")), ids=lambda file: file.stem)
def test_no_shipped_experiment_needs_trust(file: Path) -> None:
    for location, _ in walk(parse(file.read_text(), file.name)):
        path = ".".join(map(str, location))
        assert not path.endswith("server.binary")
        if found := re.search(r"server\.config\.(\w+)$", path):
            assert trust_needed(found[1], ConfigValue("text")) is None
