"""A picture with its title above it, to be shown without the page."""

import textwrap
from collections.abc import Sequence
from xml.etree import ElementTree

from mydyno.page.charts import theme
from mydyno.page.format import keep_together

_SVG = "http://www.w3.org/2000/svg"
_LEFT = 5
_TITLE_PX, _TITLE_LINE, _TITLE_CHARACTERS = 16, 20, 92
_SUBTITLE_PX, _SUBTITLE_LINE, _SUBTITLE_CHARACTERS = 13, 17, 107
_GAP = 18
"""Pixels between the last line and the picture."""


def titled(drawn: str, title: str, subtitle: Sequence[str]) -> str:
    """`drawn`, an SVG, on white, with `title` and a line or more for each sentence of `subtitle` above it."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(drawn)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    texts, below = [], 4.0
    for line in balanced(keep_together(title), _TITLE_CHARACTERS):
        below += _TITLE_LINE
        texts.append(_text(line, below - 4, _TITLE_PX, theme.INK, bold=True))
    for line in (line for sentence in subtitle for line in balanced(sentence, _SUBTITLE_CHARACTERS)):
        below += _SUBTITLE_LINE
        texts.append(_text(line, below - 3, _SUBTITLE_PX, theme.MUTED))
    top = below + _GAP
    picture = ElementTree.Element(f"{{{_SVG}}}g", {"transform": f"translate(0,{top:g})"})
    picture.extend(list(root))
    whole = {"width": f"{width:g}", "height": f"{height + top:g}"}
    paper = ElementTree.Element(f"{{{_SVG}}}rect", whole | {"fill": theme.PAPER})
    root[:] = [paper, *texts, picture]
    root.attrib.update(whole | {"viewBox": f"0 0 {width:g} {height + top:g}"})
    return ElementTree.tostring(root, encoding="unicode")


def balanced(text: str, most: int) -> list[str]:
    """`text` in as few lines of at most `most` characters as it needs, all about equally long."""
    lines = len(textwrap.wrap(text, most))
    for width in range(max(1, len(text) // max(1, lines)), most):
        if len(wrapped := textwrap.wrap(text, width)) <= lines:
            return wrapped
    return textwrap.wrap(text, most)


def _text(line: str, y: float, size: int, color: str, *, bold: bool = False) -> ElementTree.Element:
    attributes = {
        "x": str(_LEFT),
        "y": f"{y:g}",
        "font-family": theme.FONT,
        "font-size": f"{size}px",
        "fill": color,
    }
    made = ElementTree.Element(f"{{{_SVG}}}text", attributes | ({"font-weight": "bold"} if bold else {}))
    made.text = line
    return made
