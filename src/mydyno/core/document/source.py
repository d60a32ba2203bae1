"""Reads YAML 1.2 into a tree with the line and column of every key and value."""

import re
import warnings
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, ReusedAnchorWarning, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.nodes import Node as YamlNode
from ruamel.yaml.reader import ReaderError

from mydyno.core.document.problems import Position, Problem, SpecErrors
from mydyno.core.document.tree import Entry, Mapping, Node, Scalar, Sequence
from mydyno.core.nearest import nearest

_LARGEST_FILE_BYTES = 256 * 1024
_MOST_VALUES = 20_000
_MOST_NESTING = 50
_LONGEST_KEY = 200
_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = {_TAG + "str", _TAG + "timestamp", _TAG + "value", _TAG + "merge"}


def read_text(path: Path, what: str = "an experiment") -> str:
    """The file's text. Raises SpecErrors when it cannot be read as UTF-8 text of a reasonable size.

    `what` is what messages say that the file should be.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE_BYTES + 1)
    except FileNotFoundError:
        siblings = [str(near) for near in path.parent.glob("*.y*ml")] if path.parent.is_dir() else []
        close = nearest(str(path), sorted(siblings))
        raise _refused(str(path), None, "there is no such file", nearest=close) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise _refused(str(path), None, f"the file cannot be read: {reason}") from None
    if len(data) > _LARGEST_FILE_BYTES:
        raise _refused(str(path), None, f"the file is too large for {what}", allowed="at most 256K")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        position = Position(before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1)
        byte = f"byte 0x{data[error.start]:02x}"
        raise _refused(str(path), position, "the file is not UTF-8 text", value=byte) from None


def parse(text: str, file: str, what: str = "an experiment") -> Mapping:
    """The document in `text` as a tree; `file` names it in messages, `what` is what it should be.

    Raises SpecErrors.
    """
    word = what.split()[-1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReusedAnchorWarning)
            root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        raise SpecErrors([explain_syntax_error(error, text, file, word)]) from None
    except ReaderError as error:
        before = text[: error.position]
        position = Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
        message = "a character that YAML does not allow"
        raise _refused(file, position, message, value=f"U+{error.character:04X}") from None
    except RecursionError:
        raise _too_deep(file, Position(1, 1)) from None
    except (YAMLError, ValueError, AssertionError) as error:
        # The parser asserts what a %YAML line may say.
        raise _refused(file, Position(1, 1), f"not valid YAML: {str(error).splitlines()[0]}") from None
    if root is None:
        raise _refused(file, Position(1, 1), "the file is empty", allowed=what)
    reader = _Reader(file)
    reader.check_expansion(root)
    node = reader.read(root)
    if not isinstance(node, Mapping):
        allowed = f"keys and values, as `{word}: my-{word}`"
        reader.note(node.position, f"the file is not {what}", node.describe(), allowed)
    if reader.problems:
        raise SpecErrors(reader.problems)
    assert isinstance(node, Mapping)
    return node


class _Reader:
    """Turns YAML nodes into a tree and gathers what it cannot accept."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def note(self, position: Position, message: str, value: str | None, allowed: str | None = None) -> None:
        self.problems.append(Problem(self.file, position, message, value, allowed))

    def check_expansion(self, root: YamlNode) -> None:
        """Refuses aliases that unfold without end or into millions of values, before anything unfolds."""
        sizes: dict[int, int] = {}
        open_nodes: set[int] = set()

        def count(node: YamlNode, depth: int) -> int:
            identity = id(node)
            if identity in open_nodes:
                message = "an anchor contains itself"
                raise _refused(self.file, _position(node), message, value=f"&{node.anchor}")
            if depth > _MOST_NESTING:
                raise _too_deep(self.file, _position(node))
            if identity not in sizes:
                open_nodes.add(identity)
                sizes[identity] = 1 + sum(count(child, depth + 1) for child in _children(node))
                open_nodes.discard(identity)
            return sizes[identity]

        if (total := count(root, 0)) > _MOST_VALUES:
            message = f"the file unfolds to {total:,} values"
            raise _refused(self.file, _position(root), message, allowed=f"at most {_MOST_VALUES:,}")

    def read(self, node: YamlNode) -> Node:
        if isinstance(node, MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node)
        if isinstance(node, SequenceNode) and node.tag == _TAG + "seq":
            return Sequence(tuple(self.read(item) for item in node.value), _position(node))
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        self._refuse_tag(node)
        return Scalar("", "", _position(node))

    def _mapping(self, node: MappingNode) -> Mapping:
        own: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _TAG + "merge":
                merged = {**self._merge(value_node), **merged}
                continue
            position = _position(key_node)
            key = str(key_node.value) if isinstance(key_node, ScalarNode) else ""
            if not key.strip() or not key.isprintable() or len(key) > _LONGEST_KEY:
                message, allowed = "this cannot be a key", f"1 to {_LONGEST_KEY} printable characters"
                self.note(position, message, None, allowed)
                continue
            if key in own:
                first = own[key].key
                message = f"the key is already given on line {first.line}"
                self.note(position, message, key)
                continue
            own[key] = Entry(position, self.read(value_node))
        return Mapping({**merged, **own}, _position(node))

    def _merge(self, node: YamlNode) -> dict[str, Entry]:
        """The entries that `<<: *anchor` brings in; of several anchors the first has precedence."""
        if isinstance(node, SequenceNode):
            merged: dict[str, Entry] = {}
            for item in node.value:
                merged = {**self._merge(item), **merged}
            return merged
        read = self.read(node)
        if isinstance(read, Mapping):
            return read.entries
        allowed = "an alias of a mapping, as `<<: *base`"
        self.note(read.position, "<< merges mappings only", read.describe(), allowed)
        return {}

    def _scalar(self, node: ScalarNode) -> Scalar:
        text = str(node.value)
        position = _position(node)
        if node.tag in _TEXT_TAGS:
            return Scalar(text, text, position)
        if node.tag == _TAG + "null":
            return Scalar(None, text, position)
        if node.tag == _TAG + "bool":
            return Scalar(text.lower() in ("true", "yes", "on"), text, position)
        if node.tag in (_TAG + "int", _TAG + "float"):
            return Scalar(_number(text), text, position)
        self._refuse_tag(node)
        return Scalar(text, text, position)

    def _refuse_tag(self, node: YamlNode) -> None:
        tag = str(node.tag).replace(_TAG, "!!")
        self.note(_position(node), "a YAML tag has no meaning here", tag, "plain values without a tag")


def _number(text: str) -> int | float | str:
    """The number in `text`; the text itself when no number of a sane length is in it."""
    digits = text.replace("_", "")
    if len(digits) > 40:
        return text
    for base, prefix in ((8, "0o"), (16, "0x"), (2, "0b")):
        if digits.lower().lstrip("+-").startswith(prefix):
            return int(digits, base)
    try:
        return int(digits)
    except ValueError:
        pass
    try:
        return float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        return text


def _children(node: YamlNode) -> list[YamlNode]:
    if isinstance(node, MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, SequenceNode) else []


def _position(node: YamlNode) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)


def _refused(file: str, position: Position | None, message: str, **more: str | None) -> SpecErrors:
    return SpecErrors([Problem(file, position, message, **more)])


def _too_deep(file: str, position: Position) -> SpecErrors:
    levels = f"at most {_MOST_NESTING} levels"
    return _refused(file, position, "the file is nested too deeply", allowed=levels)


def explain_syntax_error(error: MarkedYAMLError, text: str, file: str, word: str) -> Problem:
    """One problem for the parser's error, at the place where the author has to look."""
    problem = str(error.problem or error.context or error)
    context = str(error.context or "")
    here = _place(error.problem_mark) or _place(error.context_mark) or Position(1, 1)
    opened = _place(error.context_mark) or here
    line = _line_at(text, here)

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
            file, opened, "a quote is opened here and never closed", value=_line_at(text, opened).strip()
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
        return Problem(file, opened, "a key without ':' after it", value=_line_at(text, opened).strip())
    return Problem(file, here, f"not valid YAML: {problem}", value=line.strip() or None)


def _place(mark: object) -> Position | None:
    line, column = getattr(mark, "line", None), getattr(mark, "column", None)
    if not isinstance(line, int) or not isinstance(column, int):
        return None
    return Position(line + 1, column + 1)


def _line_at(text: str, position: Position) -> str:
    lines = text.splitlines()
    return lines[position.line - 1] if position.line <= len(lines) else ""
