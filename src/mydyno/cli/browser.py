"""Showing a written page to the reader who sits before the machine."""

import os
import sys
import webbrowser
from pathlib import Path


def shown(page: Path) -> str | None:
    """Open `page` in the reader's browser. None when that was done, else why it was not.

    Without a display nothing is started: a browser for text would take the terminal away.
    """
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return "there is no display here"
    try:
        return None if webbrowser.open(page.absolute().as_uri()) else "no browser was found"
    except webbrowser.Error as error:
        return str(error)
