"""No secret becomes a fact."""

from __future__ import annotations

import pytest

from mydyno.survey.server.secrets import HIDDEN, without_secrets


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("report_password", "geheim"),
        ("report_password", "123456"),
        ("wsrep_sst_auth", "sst:geheim"),
        ("init_connect", "SET @token = 'geheim'"),
        ("init_replica", "SET PASSWORD = 'geheim'"),
        ("keyring_encrypted_file_password", "geheim"),
        ("file_key_management_filekey", "geheim"),
        ("hashicorp_key_management_token", "s.geheim"),
        ("audit_log_encryption_passphrase", "geheim"),
        ("some_plugin_secret_word", "geheim"),
        ("some_api_key", "geheim"),
    ],
)
def test_a_value_that_may_be_a_secret_is_hidden(name: str, value: str) -> None:
    assert without_secrets({name: value}) == {name: HIDDEN}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("wsrep_provider_options", "gcache.size=1G; socket.ssl_password=geheim; pc.weight=1"),
        ("feedback_http_proxy", "http://me:geheim@proxy:8080"),
    ],
)
def test_a_secret_inside_a_value_is_hidden_and_the_rest_stays(name: str, value: str) -> None:
    shown = without_secrets({name: value})[name]
    assert "geheim" not in shown
    assert "gcache.size=1G" in shown or "proxy:8080" in shown


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("default_authentication_plugin", "mysql_native_password"),
        ("default_password_lifetime", "0"),
        ("disconnect_on_expired_password", "ON"),
        ("innodb_ft_max_token_size", "84"),
        ("key_buffer_size", "16777216"),
        ("old_passwords", "0"),
        ("secure_auth", "ON"),
        ("ssl_key", "/etc/mysql/server-key.pem"),
        ("validate_password_policy", "MEDIUM"),
        ("wsrep_sst_method", "mariabackup"),
    ],
)
def test_what_only_sounds_like_a_secret_stays(name: str, value: str) -> None:
    assert without_secrets({name: value}) == {name: value}


def test_arguments_of_a_command_are_hidden() -> None:
    command = "/usr/local/bin/notify --token geheim --user=galera"
    shown = without_secrets({"wsrep_notify_cmd": command, "wsrep_sst_method": "mariabackup"})
    assert shown == {"wsrep_notify_cmd": "/usr/local/bin/notify ****", "wsrep_sst_method": "mariabackup"}
    assert without_secrets({"wsrep_notify_cmd": "/bin/notify"}) == {"wsrep_notify_cmd": "/bin/notify"}
