"""An SVG made fit for an HTML page with others."""

import re
from xml.etree import ElementTree

from mydyno.page.charts import theme

_SVG = "http://www.w3.org/2000/svg"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_LONG_NUMBER = re.compile(r"-?\d*\.\d{3,}")
_LABEL = "aria-label"


def inline_svg(drawn: str, *, name: str, css_class: str) -> str:
    """`drawn` as an element of a page.

    Its width stays, for CSS to shrink it with its box; its height follows. It says nothing itself: its box
    has a label.
    Ids get `name` in front, since a page has one space of ids for all of its pictures. What marks say of
    themselves becomes a tooltip of the browser's own. Fonts are left to the page.
    """
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(drawn)
    root.attrib.pop("height")
    root.attrib.update({"class": css_class, "aria-hidden": "true"})
    _prune(root)
    for element in list(root.iter()):
        _own_ids(element, name)
        element.attrib.pop("font-family", None)
        if "d" in element.attrib:
            element.set("d", _LONG_NUMBER.sub(_rounded, element.attrib["d"]))
        label = element.attrib.pop(_LABEL, None)
        if label:
            title = ElementTree.Element(f"{{{_SVG}}}title")
            title.text = label
            element.insert(0, title)
    return ElementTree.tostring(root, encoding="unicode")


def _rounded(match: re.Match[str]) -> str:
    """A coordinate to a hundredth of a pixel: half of a long path is further digits."""
    return f"{float(match.group()):.2f}".rstrip("0").rstrip(".")


def _prune(element: ElementTree.Element) -> None:
    """Drop what is never shown: it is a quarter of what Vega writes."""
    for child in list(element):
        if child.get("display") == "none":
            element.remove(child)
        else:
            _prune(child)


def _own_ids(element: ElementTree.Element, name: str) -> None:
    if "id" in element.attrib:
        element.set("id", f"{name}-{element.get('id')}")
    for attribute, value in element.attrib.items():
        if "url(#" in value:
            element.set(attribute, _REFERENCE.sub(rf"url(#{name}-\1)", value))


def dark_rules(scope: str) -> str:
    """CSS that gives pictures under `scope` the dark colours: any style rule outweighs an SVG attribute."""
    brighter = f'{scope} [opacity="{theme.FAINT}"]{{opacity:{theme.FAINT_IN_THE_DARK}}}'
    return brighter + "\n".join(
        f'{scope} [{attribute}="{light}"]{{{attribute}:{dark}}}'
        for light, dark in theme.DARK.items()
        for attribute in ("fill", "stroke")
    )
