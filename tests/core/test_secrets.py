import copy
import json
import logging
import pickle

import pytest

from mydyno.core.secrets import Secret, masked


def test_a_secret_shows_itself_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret("hunter2")
    logging.getLogger("t").warning("password is %s", secret)
    shown = [str(secret), repr(secret), f"{secret}", f"{secret!r:>20}", str({"p": secret}), caplog.text]
    assert not any("hunter2" in text for text in shown)


def test_a_secret_refuses_to_be_serialised() -> None:
    secret = Secret("hunter2")
    for attempt in (pickle.dumps, copy.deepcopy, json.dumps):
        with pytest.raises(TypeError):
            attempt(secret)


def test_random_secrets_differ_and_need_no_quoting() -> None:
    first, second = Secret.random(), Secret.random()
    assert first != second
    assert first.reveal().isalnum()
    assert len(first.reveal()) == 32


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mysql://bench:geheim@db1/shop", "mysql://bench:****@db1/shop"),
        ("{host: db1, password: geheim, user: b}", "{host: db1, password: ****, user: b}"),
        ("{password_file: ~/.password}", "{password_file: ~/.password}"),
        ("mysql://bench@db1:3306/shop", "mysql://bench@db1:3306/shop"),
    ],
)
def test_what_looks_like_a_password_in_a_quoted_text_is_blotted_out(text: str, shown: str) -> None:
    assert masked(text) == shown
