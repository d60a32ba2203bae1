"""The only way to standard output and standard error: no text of others becomes an escape sequence there.

Every text is made visible (`core.visible`) before it is printed, and colours are added after that, so that
the only escape sequences are mydyno's own. tests/cli/test_screen.py refuses any other module that prints.
"""

from __future__ import annotations

import io
import json
import logging
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, BinaryIO, TextIO

import typer

from mydyno.core.visible import visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console


def echo(text: str = "", *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Prints `text`. `style` is that of `click.style`; it only reaches a terminal."""
    typer.secho(visible(text), err=err, nl=nl, **style)


def echo_json(value: Any) -> None:
    """Prints plain values as a JSON document."""
    echo_json_text(json.dumps(value, indent=2))


def echo_json_text(text: str, *, nl: bool = True) -> None:
    """Prints a JSON document, or a part of one, with the same value for every reader."""
    typer.echo(visible_json(text), nl=nl)


def echo_data(text: str) -> None:
    """Prints data for another program: exact in a file and a pipe, visible on a terminal."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)


def data_stream() -> BinaryIO:
    """Standard output for bytes, with the rule of `echo_data`."""
    return _VisibleBytes() if sys.stdout.isatty() else sys.stdout.buffer


class _VisibleBytes(io.BytesIO):
    """Whole lines or parts of UTF-8 text for a terminal."""

    def write(self, content: Any, /) -> int:
        sys.stdout.write(visible(bytes(content).decode(errors="replace")))
        return len(content)


def confirm(question: str, *, abort: bool = False, err: bool = False) -> bool:
    """Asks on standard output, or with `err` on standard error."""
    return typer.confirm(visible(question), abort=abort, err=err)


def ask(question: str, default: str) -> str:
    """Asks for a line of text; an empty one means the default, which is shown."""
    answer: str = typer.prompt(visible(question), default=default, show_default=bool(default))
    return answer


def redraw_line(text: str = "") -> None:
    """Replaces the line on standard error, which is a terminal, by `text`."""
    sys.stderr.write(f"\r\x1b[K{visible(text)}")
    sys.stderr.flush()


def line(text: str, stream: IO[str]) -> None:
    """Writes a line to a stream that is standard error or takes its place."""
    print(visible(text), file=stream, flush=True)


def flush() -> None:
    sys.stdout.flush()


def close() -> None:
    """No more output: there is no reader."""
    sys.stderr.close()


def error_is_terminal() -> bool:
    """Whether standard error is read by a person."""
    return sys.stderr.isatty()


def console(stream: TextIO | None = None) -> Console:
    """A console on `stream` (standard error by default) that reads no markup and makes all text visible.

    Strings are made visible before they are laid out. So is, segment by segment, what is left of any object:
    a table, a live panel. Only the styles that our own code names are colours.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class VisibleConsole(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(visible(text), **options)

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                if segment.control or segment.text == "\n":
                    yield segment
                else:
                    yield Segment(visible(segment.text), segment.style)

    return VisibleConsole(file=stream or sys.stderr, markup=False, emoji=False, highlight=False)


@contextmanager
def visible_message() -> Iterator[None]:
    """For the errors of click, whose classes are at different places in different releases of typer."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message") and isinstance(vars(error).get("message"), str):
            vars(error)["message"] = visible(vars(error)["message"])
        raise


class _LogHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        echo(f"mydyno: {record.levelname.lower()}: {record.getMessage()}", err=True)


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    echo(f"mydyno: {category.__name__}: {message}", err=True)


def _show_exception(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    import traceback

    echo("".join(traceback.format_exception(kind, error, trace)), err=True, nl=False)


def take_over() -> None:
    """Warnings and log records of libraries, and a traceback, come through here as well."""
    warnings.showwarning = _show_warning
    sys.excepthook = _show_exception
    if not logging.root.handlers:
        handler = _LogHandler(logging.WARNING)
        logging.root.addHandler(handler)
