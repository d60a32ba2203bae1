"""Readers of what the report writes: HTML by the standard parser, PNG by its definition."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser

BLOCKS = frozenset(
    {"td", "th", "tr", "li", "ul", "p", "div", "h1", "h2", "h3", "dt", "dd", "section", "header"}
)
VOID = frozenset({"meta", "br", "wbr", "link", "img", "hr", "input"})


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        parts = (child if isinstance(child, str) else child.text for child in self.children)
        return "".join(parts)

    @property
    def words(self) -> str:
        """The text with all kinds of spaces made one, and one after each block."""
        return " ".join(self._spaced().split())

    def _spaced(self) -> str:
        parts = (child if isinstance(child, str) else child._spaced() for child in self.children)
        return "".join(parts) + (" " if self.tag in BLOCKS else "")

    def all(self, tag: str | None = None, css_class: str | None = None) -> list[Element]:
        """The elements below this one with that tag and class, in their order."""
        found = []
        for child in self.children:
            if isinstance(child, str):
                continue
            classes = child.attributes.get("class", "").split()
            if tag in (None, child.tag) and (css_class is None or css_class in classes):
                found.append(child)
            found += child.all(tag, css_class)
        return found

    def by_id(self, name: str) -> Element:
        (found,) = (each for each in self.all() if each.attributes.get("id") == name)
        return found


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(page: str) -> Element:
    """The page as a tree. Fails on a tag that is not closed in order."""
    builder = _Builder()
    builder.feed(page)
    builder.close()
    assert len(builder.open) == 1, f"never closed: {[element.tag for element in builder.open[1:]]}"
    return builder.root


def png_size(content: bytes) -> tuple[int, int]:
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def png_values(content: bytes) -> int:
    """How many different byte values the packed rows of a PNG hold: about one in an empty picture."""
    packed, at = b"", 8
    while at < len(content):
        length, kind = struct.unpack(">I4s", content[at : at + 8])
        if kind == b"IDAT":
            packed += content[at + 8 : at + 8 + length]
        at += length + 12
    return len(set(zlib.decompress(packed)))
