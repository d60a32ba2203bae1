"""A digest as a file: written, recognised, read, refused."""

import json
from pathlib import Path

import pytest

from mydyno.core.errors import UsageError
from mydyno.queries import saved
from mydyno.queries.records import Digest
from mydyno.queries.saved import is_saved, open_saved, read_saved, to_json

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
        ('{"format": 1, "sour', "old.json is incomplete JSON: "),
        ("[1]", "old.json is JSON, but not a digest of mydyno"),
        ('{"settings": {}}', "old.json is JSON, but not a digest of mydyno"),
        (
            json.dumps({**json.loads(to_json(sample())), "format": 7}),
            "old.json was written by another release of mydyno: its format is 7, this one reads 1",
        ),
        (
            json.dumps({**json.loads(to_json(sample())), "filtered": "many"}),
            "old.json is not a valid digest: filtered: Input should be a valid integer",
        ),
    ],
)
def test_what_is_none_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(UsageError) as error:
        read_saved(text.encode(), "old.json")
    assert error.value.message.startswith(says)
    assert error.value.hint == "`mydyno digest FILE --json > digest.json` makes one"


def opened(path: Path) -> Digest:
    digest, groups = open_saved(path)
    assert digest.groups == ()
    return digest.model_copy(update={"groups": tuple(groups)})


@pytest.mark.parametrize("chunk", [7, 64, 1024 * 1024])
def test_groups_are_read_one_by_one_wherever_the_file_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(saved, "_CHUNK", chunk)
    monkeypatch.setattr(saved, "read_saved", only_without_groups)
    whole = sample()
    hostile = 'select \',{"count":1}\', \'"groups":[{"count":\' -- ünïcode, 日本 \\'
    last = whole.groups[-1].model_copy(update={"fingerprint": hostile})
    for groups in ((*whole.groups[:-1], last), (last,)):
        digest = whole.model_copy(update={"groups": groups})
        path = tmp_path / "old.json"
        path.write_text(to_json(digest))
        assert opened(path) == digest


def only_without_groups(text: bytes, name: str) -> Digest:
    digest = read_saved(text, name)
    assert digest.groups == ()
    return digest


def test_what_another_program_has_laid_out_differently_is_read_all_the_same(tmp_path: Path) -> None:
    document = json.loads(to_json(sample()))
    path = tmp_path / "pretty.json"
    for text in (
        json.dumps(document, indent=2),
        json.dumps(document, sort_keys=True, separators=(",", ":")),
        to_json(sample().model_copy(update={"groups": ()})),
    ):
        path.write_text(text)
        assert opened(path) == read_saved(text.encode(), "pretty.json")


def test_a_file_that_breaks_off_and_a_group_that_is_none_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    text = to_json(sample())
    path.write_text(text[: len(text) * 3 // 4])
    with pytest.raises(UsageError, match="incomplete JSON"):
        open_saved(path)
    document = json.loads(text)
    document["groups"][1]["id"] = 7
    path.write_text(json.dumps(document, separators=(",", ":")))
    _, groups = open_saved(path)
    next(groups)
    with pytest.raises(UsageError, match=r"groups\.1\.id: "):
        next(groups)
