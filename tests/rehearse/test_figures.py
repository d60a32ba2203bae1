"""The forest of a rehearsal: which statements it draws, and how each mark is described."""

from xml.etree import ElementTree

import pytest

from mydyno.page.charts import draw, theme
from mydyno.rehearse.records import Rehearsal
from mydyno.rehearse.report.figures import MOST, forest, forest_rows
from rehearse.builders import upgrade

pytestmark = pytest.mark.usefixtures("checked_charts")


def drawn(rehearsal: Rehearsal, size: theme.Size) -> str:
    figure = forest(rehearsal, 0)
    assert figure is not None
    return draw.svg(figure.draw(size))


def test_the_largest_share_of_the_time_comes_first_and_the_whole_trace_last() -> None:
    (comparison,) = upgrade().comparisons
    *statements, whole = forest_rows(comparison)
    assert len(statements) == MOST
    assert statements[0].name == "select * from orders where customer = ?"
    shares = [row.share or 0.0 for row in statements]
    assert shares == sorted(shares, reverse=True)
    left_out = [each for each in comparison.statements if each.text not in {row.name for row in statements}]
    timed = [max(each.shares) for each in left_out if each.times.ratio is not None]
    assert max(timed) <= shares[-1]
    assert (whole.name, whole.share, whole.times) == ("whole trace", None, comparison.total)


def test_a_statement_that_was_not_timed_is_not_drawn_and_none_timed_is_no_chart() -> None:
    rehearsal = upgrade()
    (comparison,) = rehearsal.comparisons
    failed = [each for each in comparison.statements if each.fails]
    assert len(failed) == 1
    assert failed[0].text not in {row.name for row in forest_rows(comparison)}
    only = comparison.model_copy(update={"statements": tuple(failed)})
    assert forest(rehearsal.model_copy(update={"comparisons": (only,)}), 0) is None


@pytest.mark.parametrize("size", theme.SIZES, ids=lambda size: size.name)
@pytest.mark.parametrize("repetitions", [1, 5])
def test_a_forest_is_drawn_no_wider_than_its_page_and_says_each_mark(
    size: theme.Size, repetitions: int
) -> None:
    svg = drawn(upgrade("select a \x1b[31m b", repetitions=repetitions), size)
    root = ElementTree.fromstring(svg)
    assert float(root.attrib["width"]) <= size.width * 1.03
    assert "NaN" not in svg
    labels = [each for element in root.iter() if (each := element.get("aria-label"))]
    word = "slower" if repetitions == 5 else "unclear"
    (orders,) = [each for each in labels if "orders" in each]
    assert orders.startswith(f"select * from orders where customer = ?: {word}, ")
    assert "% of the time, +2" in orders or "% of the time, +3" in orders
    assert any(each.startswith("whole trace: ") for each in labels)
    texts = ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "change in service time" in texts
    # Thirty times as long does not push the ticks near 0 out.
    assert {"0%", "+900%"} <= set(texts)
