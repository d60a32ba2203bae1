"""A digest as a file: written, recognised, read, refused."""

import json

import pytest

from mydyno.core.errors import UsageError
from mydyno.digest.saved import is_saved, read_saved, to_json

from .builders import sample


def test_what_was_saved_comes_back() -> None:
    assert read_saved(to_json(sample()).encode(), "old.json") == sample()


def test_a_slow_log_is_no_saved_digest() -> None:
    assert is_saved(to_json(sample()).encode()[:100])
    assert is_saved(b" \n{")
    for head in (b"# Time: 2026-11-22T03:00:00Z\n", b"/usr/sbin/mysqld, Version: 8.0\n", b"", b"\x1f\x8b"):
        assert not is_saved(head)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"format": 1, "sour', "old.json is JSON that ends or breaks off: "),
        ("[1]", "old.json is JSON, but holds no digest of mydyno"),
        ('{"settings": {}}', "old.json is JSON, but holds no digest of mydyno"),
        (
            json.dumps({**json.loads(to_json(sample())), "format": 7}),
            "old.json was written by another release of mydyno: its format is 7, this one reads 1",
        ),
        (
            json.dumps({**json.loads(to_json(sample())), "filtered": "many"}),
            "old.json is no digest that can be read: filtered: Input should be a valid integer",
        ),
    ],
)
def test_what_is_none_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(UsageError) as error:
        read_saved(text.encode(), "old.json")
    assert error.value.message.startswith(says)
    assert error.value.hint == "`mydyno digest FILE --json > digest.json` makes one"
