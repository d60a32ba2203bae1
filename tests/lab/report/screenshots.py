"""Screenshots of fixed pages, and how alike two pictures are to somebody who does not look closely."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

from lab.report.browser import Browser
from lab.report.builders import thread_cache_run
from lab.report.digests import full
from mydyno.lab.report.build import build
from mydyno.queries.report.page import digest_html

FOLDER = Path(__file__).parent / "golden"
MADE_WITH = FOLDER / "screenshots.json"
"""The browser and the fonts of the golden ones: others draw other letters and break lines elsewhere."""

KINDS = {
    "desktop": ("report", 1200, False),
    "desktop-dark": ("report", 1200, True),
    "phone": ("report", 390, False),
    "digest": ("digest", 1200, False),
    "digest-phone": ("digest", 390, True),
}
"""name -> (page, width, dark)"""
_IN_DOCS_HEIGHT = 1180
"""Pixels: the headline and what took the time."""
_MOST_HEIGHT = 6000
"""Pixels: the pictures are above it."""
_SCALE = 0.5
"""Of a pixel: small files, in which headings and charts can still be told."""


def screenshots(browser: Browser, folder: Path) -> dict[str, Path]:
    """A picture of each kind, `page-KIND.png` in `folder`."""
    run = thread_cache_run(repeats=3, connections=(10, 100, 400))
    pages = {"report": build(run, folder / "report").html, "digest": _digest_page(folder)}
    made = {}
    for name, (page, width, dark) in KINDS.items():
        with browser.page(width, 900, dark=dark) as tab:
            tab.open(pages[page])
            tab.draw_all()
            height = min(tab.ask("document.documentElement.scrollHeight"), _MOST_HEIGHT)
            made[name] = folder / f"page-{name}.png"
            tab.screenshot(made[name], width=width, height=height, scale=_SCALE)
    return made


def digest_in_docs(browser: Browser, folder: Path, to: Path) -> None:
    """The picture in docs/how-to/digest.md: how the page of a digest begins."""
    with browser.page(1200, 900) as tab:
        tab.open(_digest_page(folder))
        tab.draw_all()
        tab.screenshot(to, width=1200, height=_IN_DOCS_HEIGHT)


def _digest_page(folder: Path) -> Path:
    page = folder / "digest.html"
    page.write_text(digest_html(full()))
    return page


def made_with(browser: Browser) -> dict[str, object]:
    """The browser, and how wide it draws a few letters of each kind."""
    with browser.page() as tab:
        widths = tab.ask(
            """(() => {
              const pen = document.createElement('canvas').getContext('2d');
              return ['system-ui', 'sans-serif', 'monospace', 'Liberation Sans'].map((font) => {
                pen.font = `16px ${font}`;
                return pen.measureText('Handgloves 0123 \u2190').width;
              });
            })()"""
        )
    return {"browser": browser.version.partition(".")[0], "letters": [round(width, 2) for width in widths]}


def difference(browser: Browser, one: Path, other: Path) -> tuple[float, float]:
    """(mean, largest) difference of the two, 0 to 255, after both were shrunk to a cell for each 20 pixels.

    An edge that moved by a hair is no difference then, a missing line is one. Unlike sizes differ wholly.
    """
    with browser.page() as tab:
        found: Sequence[float] = tab.ask(f"({_COMPARE})({json.dumps([_url(one), _url(other)])})")
    return found[0], found[1]


def _url(picture: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(picture.read_bytes()).decode()


_COMPARE = """async (urls) => {
  const [one, other] = await Promise.all(urls.map(async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    return image;
  }));
  if (one.width !== other.width || Math.abs(one.height - other.height) > 4) return [255, 255];
  const cells = [one, other].map((image) => {
    const canvas = new OffscreenCanvas(Math.ceil(one.width / 20), Math.ceil(one.height / 20));
    const pen = canvas.getContext('2d');
    pen.imageSmoothingQuality = 'high';
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    return pen.getImageData(0, 0, canvas.width, canvas.height).data;
  });
  let sum = 0, most = 0;
  for (let at = 0; at < cells[0].length; at++) {
    const off = Math.abs(cells[0][at] - cells[1][at]);
    sum += off;
    most = Math.max(most, off);
  }
  return [sum / cells[0].length, most];
}"""
