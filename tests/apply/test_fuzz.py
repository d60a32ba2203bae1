"""Advice files and journals of any content: each is read, or refused with an error that names the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutation import mutations

from apply.builders import advice, every_kind, finding
from apply.test_hostile_image import LIVE, file_act, state
from mydyno.advisor import read_advice
from mydyno.apply.acts import HoldVariables, PersistVariables
from mydyno.apply.change import SetArray
from mydyno.apply.edits.texts import Texts
from mydyno.apply.history import rows
from mydyno.apply.proposal import Ways, propose
from mydyno.apply.reading import advised_server
from mydyno.apply.store.application import Application
from mydyno.apply.store.store import Store
from mydyno.core.errors import LabError, UsageError

ID = "20260101-000000-000000"


def test_an_advice_of_any_content_is_refused_or_comes_to_lines_of_its_own_files() -> None:
    whole = advice(
        *every_kind(),
        finding("array", SetArray(array="md0", attribute="stripe_cache_size", value="4096", was=None)),
    )
    files = {"/etc/fstab": b"UUID=a /var/lib/mysql ext4 relatime 0 2\n", "/etc/my.cnf": b"[mysqld]\n"}
    read = 0
    for text in mutations([whole.to_json().encode()]):
        try:
            found = read_advice(text.decode("utf-8", "strict"), "advice.json")
            server = advised_server(found.server)
        except UnicodeDecodeError:
            continue
        except UsageError:
            continue
        texts = Texts(files.get, lambda folder: None)
        ways = Ways(server)
        proposal = propose(found.findings, texts, ways, lambda change: None)
        for path, (old, new) in proposal.texts.changed().items():
            assert path in files or path.rpartition("/")[2] in _OURS, path
            added = new.count("\n") - (old or "").count("\n")
            assert added <= 4 + 2 * len(proposal.changes), new
            assert not set(new) & set("\r\0\x1b\u202e"), new
        read += 1
    assert read > 0


_OURS = frozenset(
    {
        "99-mydyno.conf",
        "mydyno.conf",
        "99-mydyno.rules",
        "zz-mydyno.conf",
        "zz-mydyno.cnf",
        "my.cnf",
        "sysctl.conf",
    }
)


@pytest.fixture
def application() -> bytes:
    old = state(mode=0o600, modified_ns=1, attributes={"user.x": "eA=="})
    held = HoldVariables(before={"a": 1}, after={"a": 2}, server="a:3306/var/lib/mysql/", started_at=1)
    kept = PersistVariables(before={"a": None}, after={"a": "1"})
    acts = [
        file_act("/etc/x", None, state()),
        file_act("/etc/y.d/z", old, None, "/etc/y.d"),
        *(act.model_dump(mode="json") for act in (*LIVE, kept, held)),
    ]
    document = Application.model_validate(
        {
            "id": ID,
            "mydyno": "0.1.0",
            "made_at": "2026-01-01T00:00:00+00:00",
            "does": "apply",
            "server": "MariaDB 10.11.19",
            "findings": ["swappiness"],
            "acts": acts,
        }
    )
    return document.model_dump_json().encode()


JOURNAL = (
    b'{"begun": 0, "at": "2026-01-01T00:00:00+00:00"}\n{"begun": 1, "at": "x"}\n'
    b'{"stuck": "a reason", "at": "x"}\n{"phase": "put back", "because": "a reason", "at": "x"}\n'
    b'{"phase": "applied", "at": "x"}\n'
)


def test_the_journal_of_an_application_is_read_or_refused_whatever_it_holds(
    tmp_path: Path, application: bytes
) -> None:
    folder = tmp_path / ID
    folder.mkdir()
    journal, document = folder / "journal.jsonl", folder / "application.json"
    document.write_bytes(application)
    journal.write_bytes(JOURNAL)
    assert len(rows(Store(tmp_path).entries())) == 1
    read = unnamed = 0
    for number, text in enumerate(mutations([JOURNAL, application])):
        is_journal = not text.startswith(b'{"format') if number % 3 else text[:9] == JOURNAL[:9]
        (journal if is_journal else document).write_bytes(text)
        for store in (Store(tmp_path), Store(tmp_path, image=tmp_path)):
            try:
                for entry in store.entries():
                    read += 1
                    [act.sentence() + act.reversed().sentence() for act in entry.application.acts]
                    rows([entry])
            except LabError as error:
                unnamed += ID not in error.message
        (journal if is_journal else document).write_bytes(JOURNAL if is_journal else application)
    assert read > 0
    assert unnamed == 0
