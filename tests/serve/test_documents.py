"""Advice, digests, rehearsals and searches of a lab, as pages in a real browser."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from advisor.builders import GIB, host, server, system
from lab.report.browser import Browser
from lab.report.digests import hostile
from lab.report.test_in_browser import PHONE
from queries.builders import sample
from rehearse.builders import Trace
from tune.builders import found

from mydyno import __version__
from mydyno.advisor import advise
from mydyno.advisor.report.advice_text import details
from mydyno.advisor.report.page import advice_html
from mydyno.lab.results.store import Lab
from mydyno.queries.saved import to_json
from mydyno.rehearse.compare import compare_sides
from mydyno.rehearse.records import Rehearsal
from mydyno.survey.facts import Memory
from mydyno.tune import result
from mydyno.tune.page import page as search_page
from serve.made import make_run
from serve.site import Site, site
from serve.test_in_browser import visit

SYSTEM = system(
    server(variables={"innodb_flush_log_at_trx_commit": "2", "innodb_doublewrite": "OFF"}),
    host(memory_facts=Memory(total=16 * GIB, swap_total=GIB), sysctls={"vm.swappiness": "60"}),
)
ADVICE = advise(SYSTEM, "2026-01-31T12:00:00Z")
EVIL = "<script>document.title='owned'</script><img src=x onerror=alert(1)>\x1b[31m"


def rehearsal() -> Rehearsal:
    trace = Trace([f"select {number}" for number in range(6)] * 5)
    compared = compare_sides(trace.replays("old", 5), trace.replays("new", 5), 0.1)
    return Rehearsal(
        mydyno=__version__,
        trace="shop.trace",
        data="shop.sql",
        sides={"old": "mariadb 10.5", "new": "mariadb 11.8"},
        repetitions=5,
        margin=0.1,
        comparisons=(compared,),
    )


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("documents") / "lab"
    with Lab.open(path, write=True) as made:
        folder = make_run(made, 0, 4, 4)
    write(folder / "report" / "rehearsal.json", rehearsal().model_dump_json())
    write(path / "advice" / "db1 & db2.json", ADVICE.to_json())
    write(path / "digests" / "monday.json", to_json(sample()))
    write(path / "searches" / "example-1" / "report" / "search.json", result.to_json(found()))
    return path


@pytest.fixture(scope="module")
def shown(lab: Path) -> Iterator[Site]:
    with site(lab) as made:
        yield made


def addresses(lab: Path) -> tuple[str, ...]:
    (run,) = (lab / "runs").iterdir()
    return (
        "/documents/advice/db1%20%26%20db2",
        "/documents/digest/monday",
        f"/documents/rehearsal/{run.name}",
        "/documents/search/example-1",
    )


def test_all_are_listed_and_each_has_the_page_of_its_command(shown: Site, lab: Path):
    assert "Advice, digests, rehearsals, searches (4)" in shown.ask("/").text
    page = shown.ask("/documents").text
    for address in addresses(lab):
        assert f'href="{address}"' in page
        assert shown.ask(address).status == 200
    assert shown.ask(addresses(lab)[0]).text == advice_html(ADVICE)
    assert shown.ask(addresses(lab)[3]).text == search_page(found())
    (run,) = (lab / "runs").iterdir()
    assert f'href="{addresses(lab)[2]}"' in shown.ask(f"/runs/{run.name}").text


def test_the_page_of_an_advice_has_every_finding_with_its_changes(shown: Site, lab: Path):
    page = shown.ask(addresses(lab)[0]).text
    assert ADVICE.findings
    assert page.count('<article id="f') == len(ADVICE.findings)
    for finding in ADVICE.findings:
        assert f"<code>{finding.rule}</code>" in page
    assert "[mysqld]" in page
    assert page.count("<dt>") == sum(1 + len(list(details(finding))) for finding in ADVICE.findings)


@pytest.mark.parametrize("width", [1440, PHONE])
def test_they_are_accessible_and_fit_the_window(chromium: Browser, shown: Site, lab: Path, width: int):
    with chromium.page(width) as page:
        for path in ("/documents", addresses(lab)[0], addresses(lab)[3]):
            visit(page, shown, path)
            page.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            assert page.violations() == [], path
            assert page.ask("document.documentElement.scrollWidth") <= width, path


def test_a_document_that_was_written_again_has_another_page(tmp_path: Path):
    Lab.open(tmp_path / "lab", write=True).close()
    file = tmp_path / "lab" / "advice" / "db.json"
    write(file, ADVICE.to_json())
    with site(tmp_path / "lab") as made:
        assert "another server" not in made.ask("/documents/advice/db").text
        write(file, ADVICE.model_copy(update={"server": "another server"}).to_json())
        assert "another server" in made.ask("/documents/advice/db").text
        file.unlink()
        assert made.ask("/documents/advice/db").status == 404
        assert "None yet" in made.ask("/documents").text


def test_a_damaged_one_is_said_and_the_rest_works(tmp_path: Path):
    Lab.open(tmp_path / "lab", write=True).close()
    for number, text in enumerate(("", "{}", "[1]", '{"format": 1, "groups": [', "\x00\xff")):
        write(tmp_path / "lab" / "advice" / f"bad-{number}.json", text)
        write(tmp_path / "lab" / "digests" / f"bad-{number}.json", text)
        write(tmp_path / "lab" / "searches" / f"bad-{number}" / "report" / "search.json", text)
    write(tmp_path / "lab" / "advice" / "good.json", ADVICE.to_json())
    with site(tmp_path / "lab") as made:
        for kind, number in itertools.product(("advice", "digest", "search"), range(5)):
            answer = made.ask(f"/documents/{kind}/bad-{number}")
            assert answer.status == 503, (kind, number)
            file = "search.json" if kind == "search" else f"bad-{number}.json"
            assert file in answer.text
            assert "Traceback" not in answer.text
        assert made.ask("/documents/advice/good").status == 200


def test_only_what_is_listed_is_read(tmp_path: Path):
    Lab.open(tmp_path / "lab", write=True).close()
    write(tmp_path / "lab" / "advice" / "db.json", ADVICE.to_json())
    write(tmp_path / "lab" / "secret.json", ADVICE.to_json())
    (tmp_path / "lab" / "advice" / "link.json").symlink_to("../secret.json")
    paths = (
        "advice/nothing",
        "advice/..%2fsecret",
        "advice/link",
        "secret/db",
        "advice/db/more",
        "rehearsal/db",
    )
    with site(tmp_path / "lab") as made:
        assert [made.ask(f"/documents/{path}").status for path in paths] == [404] * len(paths)


def test_hostile_text_is_only_text(tmp_path: Path):
    finding = ADVICE.findings[0].model_copy(
        update={"title": EVIL, "recommendation": EVIL, "evidence": (EVIL,), "risk": EVIL}
    )
    advice = ADVICE.model_copy(update={"server": EVIL, "findings": (finding,), "memory": (EVIL,)})
    Lab.open(tmp_path / "lab", write=True).close()
    write(tmp_path / "lab" / "advice" / "evil.json", advice.to_json())
    write(tmp_path / "lab" / "digests" / "evil.json", to_json(hostile()))
    search = replace(found(confirmed=False), name=EVIL, release=EVIL, constraints=(EVIL,))
    write(tmp_path / "lab" / "searches" / "evil" / "report" / "search.json", result.to_json(search))
    kinds = ("advice", "digest", "search")
    with site(tmp_path / "lab") as made:
        for path in ("/documents", *(f"/documents/{kind}/evil" for kind in kinds)):
            answer = made.ask(path)
            assert answer.status == 200
            assert "<script>document" not in answer.text
            assert "<img src=x" not in answer.text
        assert "\x1b" not in made.ask("/documents/advice/evil").text
        assert "\x1b" not in made.ask("/documents/search/evil").text
