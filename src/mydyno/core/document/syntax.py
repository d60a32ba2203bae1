"""What a YAML syntax error means to someone who never reads the YAML standard."""

from __future__ import annotations

import re

from ruamel.yaml.error import MarkedYAMLError

from mydyno.core.document.problems import Position, Problem


def explain_syntax_error(error: MarkedYAMLError, text: str, file: str, word: str) -> Problem:
    """One problem for the parser's error, at the place where the author has to look."""
    problem = str(error.problem or error.context or error)
    context = str(error.context or "")
    here = _position(error.problem_mark) or _position(error.context_mark) or Position(1, 1)
    opened = _position(error.context_mark) or here
    line = _line(text, here)

    if r"'\t'" in problem or "\t" in line[: len(line) - len(line.lstrip())]:
        column = line.find("\t") + 1 or here.column
        return Problem(file, Position(here.line, column), "a tab where YAML wants spaces", allowed="spaces")
    if match := re.search(r"found character '(.)' that cannot start any token", problem):
        message = f"a value cannot start with {match.group(1)} unless it is in quotes"
        return Problem(file, here, message, value=line[here.column - 1 :].strip())
    if "mapping values are not allowed" in problem:
        message = "a ':' that belongs to no key (wrong indentation, or a text with ': ' that needs quotes)"
        return Problem(file, here, message, value=line.strip())
    if "quoted scalar" in context:
        return Problem(
            file, opened, "a quote is opened here and never closed", value=_line(text, opened).strip()
        )
    if "flow sequence" in context:
        return Problem(file, opened, "a [ is opened here and not closed properly", value=line.strip())
    if "flow mapping" in context:
        return Problem(file, opened, "a { is opened here and not closed properly", value=line.strip())
    if "expected a single document" in context:
        allowed = f"one {word} a file"
        return Problem(file, here, "a second document begins here", value="---", allowed=allowed)
    if match := re.search(r"found undefined alias '(.*)'", problem):
        return Problem(file, here, "the alias has no anchor before it", value=f"*{match.group(1)}")
    if "<block end>" in problem or "<document start>" in problem:
        return Problem(file, here, "the line is not indented like its neighbours", value=line.strip())
    if "could not find expected ':'" in problem:
        return Problem(file, opened, "a key without ':' after it", value=_line(text, opened).strip())
    return Problem(file, here, f"not valid YAML: {problem}", value=line.strip() or None)


def _position(mark: object) -> Position | None:
    line, column = getattr(mark, "line", None), getattr(mark, "column", None)
    if not isinstance(line, int) or not isinstance(column, int):
        return None
    return Position(line + 1, column + 1)


def _line(text: str, position: Position) -> str:
    lines = text.splitlines()
    return lines[position.line - 1] if position.line <= len(lines) else ""
