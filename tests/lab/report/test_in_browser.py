"""The page in Chromium: its charts draw themselves, only its own scripts run, and everyone can use it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.report.builders import MemoryRun, thread_cache_run
from lab.report.test_html import HOSTILE, hostile
from mydyno.lab.report.build import build

PHONE = 390


def on_screens(window: int) -> pytest.MarkDecorator:
    """A window and a telephone, light and dark: each of the four once, two of them in the slow tests."""
    return pytest.mark.parametrize(
        ("width", "dark"),
        [
            pytest.param(window, False, id="window, light"),
            pytest.param(PHONE, True, id="telephone, dark"),
            pytest.param(window, True, id="window, dark", marks=pytest.mark.slow),
            pytest.param(PHONE, False, id="telephone, light", marks=pytest.mark.slow),
        ],
    )


def written(run: MemoryRun, folder: Path) -> Path:
    return build(run, folder).html


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(thread_cache_run(repeats=3, connections=(10, 100)), tmp_path_factory.mktemp("report"))


@on_screens(1200)
def test_axe_finds_no_violation_of_wcag_a_and_aa(chromium, report, width, dark):
    with chromium.page(width, dark=dark) as page:
        page.open(report)
        page.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.draw_all()
        assert page.ask("document.querySelectorAll('.is-live:not([role=img][aria-label])').length") == 0
        assert page.violations() == []


def test_pictures_that_no_script_draws_scroll_by_keys_on_a_telephone(chromium, report):
    with chromium.page(PHONE, script=False) as page:
        page.open(report)
        # For the test only: nothing of the page has run.
        page.call("Emulation.setScriptExecutionDisabled", value=False)
        wide = "[...document.querySelectorAll('.still')].filter((box) => box.scrollWidth > box.clientWidth)"
        assert page.ask(f"{wide}.length") >= 5
        assert page.ask(f"{wide}.every((box) => box.tabIndex === 0 && box.role && box.ariaLabel)")
        assert page.ask("document.querySelectorAll('[role=img] .still:not(:empty)').length") == 0
        page.ask(f"{wide}[0].focus()")
        key = {"key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39}
        page.call("Input.dispatchKeyEvent", type="rawKeyDown", **key)
        page.call("Input.dispatchKeyEvent", type="keyUp", **key)
        for _ in range(1000):
            page.ask("new Promise((done) => requestAnimationFrame(done))")
            if page.ask(f"{wide}[0].scrollLeft") > 0:
                break
        assert page.ask(f"{wide}[0].scrollLeft") > 0
        assert page.violations() == []


def test_every_chart_is_drawn_in_place_of_its_picture_under_the_policy_of_the_page(chromium, report):
    with chromium.page() as page:
        page.open(report)
        page.draw_all()
        assert page.messages() == []
        assert page.ask("document.querySelectorAll('.is-live svg.marks').length") >= 5
        assert page.ask("getComputedStyle(document.querySelector('.still')).display") == "none"
        widths = page.ask(
            "[...document.querySelectorAll('.is-live')].map((box) =>"
            " [box.clientWidth, box.querySelector('svg.marks').clientWidth])"
        )
    assert all(0.9 * box <= drawn <= box + 1 for box, drawn in widths), widths


def test_without_script_the_pictures_stand_there(chromium, report):
    with chromium.page(script=False) as page:
        page.open(report)
        shown = page.call("DOM.getDocument")["root"]["nodeId"]
        boxes = page.call("DOM.querySelectorAll", nodeId=shown, selector="figure .still svg")["nodeIds"]
        live = page.call("DOM.querySelectorAll", nodeId=shown, selector=".is-live")["nodeIds"]
    assert len(boxes) >= 5
    assert live == []


@pytest.mark.parametrize("width", [1440, PHONE])
def test_no_text_of_a_picture_is_cut_where_the_fonts_of_the_page_are_wider(chromium, report, width):
    """A picture was measured with Liberation Sans, which the reader's machine may not have."""
    with chromium.page(width, script=False) as page:
        page.open(report)
        page.call("Emulation.setScriptExecutionDisabled", value=False)
        # The widest of the common fonts; without it the test is weaker.
        page.ask(
            "document.styleSheets[0].insertRule("
            "'.chart text { font-family: DejaVu Sans, Verdana !important; }',"
            " document.styleSheets[0].cssRules.length)"
        )
        shown, cut = page.ask(
            """(() => {
              const texts = [...document.querySelectorAll('.still')].flatMap((box) => {
                const left = box.getBoundingClientRect().left, right = left + box.scrollWidth;
                return [...box.querySelectorAll('text')].map((text) => [text, left, right]);
              }).filter(([text]) => text.getBoundingClientRect().width > 0);
              const cut = texts.filter(([text, left, right]) => {
                const at = text.getBoundingClientRect();
                return at.left < left || at.right > right;
              });
              return [texts.length, cut.map(([text]) => text.textContent)];
            })()"""
        )
    assert shown > 50
    assert cut == []


def test_nothing_that_came_in_can_run_and_all_of_it_is_shown(chromium, tmp_path):
    evil = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    run = hostile()
    experiment = replace(
        run.experiment,
        name=f"{evil}{HOSTILE}",
        points=tuple(
            replace(point, title=f"{place} {evil}") for place, point in enumerate(run.experiment.points)
        ),
    )
    run = replace(run, experiment=experiment, facts={**run.facts, "host.name": evil})
    with chromium.page() as page:
        page.open(written(run, tmp_path))
        page.draw_all()
        assert page.messages() == []
        assert page.ask("document.title") == page.ask("document.querySelector('title').textContent")
        assert page.ask("document.title.startsWith('<img src=x onerror=')")
        assert page.ask("document.querySelectorAll('img').length") == 0
        assert page.ask(f"document.body.innerText.includes({json.dumps(evil)})")


def test_a_name_in_the_legend_puts_its_lines_away_and_back_by_the_keyboard(chromium, report):
    shown = (
        "[...document.querySelectorAll('#throughput .live path[stroke=\"#0072b2\"]')]"
        ".filter((mark) => getComputedStyle(mark).display !== 'none').length"
    )
    with chromium.page() as page:
        page.open(report)
        page.draw_all()
        before = page.ask(shown)
        page.ask("document.querySelector('#throughput .legend button').focus()")
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
        for _ in range(2):
            page.call("Input.dispatchKeyEvent", type="keyDown", **key)
            page.call("Input.dispatchKeyEvent", type="keyUp", **key)
            pressed = page.ask("document.querySelector('#throughput .legend button').ariaPressed")
            assert (page.ask(shown) == 0) is (pressed == "false")
        assert page.ask(shown) == before > 0


def test_the_zoom_buttons_and_the_wheel_change_what_the_axis_shows_and_reset_it(chromium, report):
    ticks = (
        "[...document.querySelectorAll('#throughput .live .role-axis-label text')]"
        ".map((each) => each.textContent).join(' ')"
    )
    settled = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    with chromium.page() as page:
        page.open(report)
        page.draw_all()
        page.ask("document.querySelector('#throughput').scrollIntoView({behavior: 'instant'})")
        whole = page.ask(ticks)
        at = page.ask(
            "(({x, y, width, height}) => ({x: x + width / 2, y: y + height / 2}))"
            "(document.querySelector('#throughput .live svg').getBoundingClientRect())"
        )
        for act in (
            lambda: page.ask("document.querySelector('#throughput [aria-label=\"zoom in\"]').click()"),
            lambda: page.call(
                "Input.dispatchMouseEvent", type="mouseWheel", **at, deltaX=0, deltaY=-400, modifiers=2
            ),
        ):
            act()
            page.ask(settled)
            assert page.ask(ticks) != whole
            page.ask("document.querySelector('#throughput [aria-label=\"show all again\"]').click()")
            page.ask(settled)
            assert page.ask(ticks) == whole
        page.call("Input.dispatchMouseEvent", type="mouseWheel", **at, deltaX=0, deltaY=-400)
        page.ask(settled)
        assert page.ask(ticks) == whole, "the bare wheel scrolls the page"


def test_a_point_reports_its_numbers_under_the_pointer(chromium, report):
    with chromium.page() as page:
        page.open(report)
        page.draw_all()
        page.ask("document.querySelector('#throughput').scrollIntoView({behavior: 'instant'})")
        at = page.ask(
            "(({x, y, width, height}) => ({x: x + width / 2, y: y + height / 2}))"
            "(document.querySelector('#throughput .mark-symbol path[aria-label]').getBoundingClientRect())"
        )
        page.call("Input.dispatchMouseEvent", type="mouseMoved", **at)
        page.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert "connections" in page.ask("document.querySelector('.tooltip').textContent")
        assert page.ask("getComputedStyle(document.querySelector('.tooltip')).display") == "block"


def test_a_telephone_needs_no_sideways_scrolling_of_the_page(chromium, report):
    with chromium.page(PHONE) as page:
        page.open(report)
        page.draw_all()
        assert page.ask("document.documentElement.scrollWidth") == PHONE
        assert page.ask("document.querySelector('.is-live svg.marks').clientWidth") <= PHONE


def test_charts_follow_the_width_of_the_window(chromium, report):
    width = "document.querySelector('#throughput svg.marks').clientWidth"
    with chromium.page(1200) as page:
        page.open(report)
        page.draw_all()
        wide = page.ask(width)
        page.resize(900, 900)
        for _ in range(200):
            page.ask("new Promise((done) => requestAnimationFrame(done))")
            if page.ask(width) < wide:
                break
        assert page.ask(width) <= page.ask("document.querySelector('#throughput .chart').clientWidth")


def test_printed_it_is_a_document_with_all_that_was_folded_and_nothing_to_press(chromium, report):
    with chromium.page() as page:
        page.open(report)
        page.draw_all()
        page.ask("dispatchEvent(new Event('beforeprint'))")
        page.call("Emulation.setEmulatedMedia", media="print")
        assert page.ask(
            "[...document.querySelectorAll('details')].every((each) => each.open || each.closest('.trial'))"
        )
        for hidden in ("nav", ".zoom", ".live", ".skip"):
            assert page.ask(f"getComputedStyle(document.querySelector('{hidden}')).display") == "none", hidden
        assert page.ask("getComputedStyle(document.querySelector('.still')).display") == "block"
