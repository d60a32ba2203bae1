"""Options that a workload declares, as fields of a section: an experiment file, its schema and the command
line take them from there.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, create_model, model_validator
from pydantic.fields import FieldInfo

from mydyno.core.document.base import Fault, Section, refuse
from mydyno.core.document.problems import SpecErrors
from mydyno.core.document.quantities import CountRule, DurationRule
from mydyno.core.nearest import nearest
from mydyno.core.units import parse_duration
from mydyno.lab.workload.constants import Constant
from mydyno.lab.workload.ddl import STORAGE_ENGINES
from mydyno.lab.workload.functions import LITERALS, WORDS
from mydyno.lab.workload.sql import typographic
from mydyno.lab.workload.written import Gathered, Written, Wrong

OPTION_KEYS = {
    "default": "The value when none is given; its kind (number, text, `true` or `false`) is the option's.",
    "about": "What it does, for the help and the guide.",
    "one_of": "The values that it may have.",
    "at_least": "The smallest number.",
    "at_most": "The largest number.",
    "kind": "`storage_engine`: a storage engine by name. `duration`: seconds, written `10ms`, `2s`.",
}
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_KINDS = ("storage_engine", "duration")
_RESERVED = {*WORDS, *LITERALS}


class Options(Section):
    """The base of every workload's options: values that leave nothing to send are refused, too."""

    _check: ClassVar[Callable[[dict[str, Any]], object] | None] = None

    @model_validator(mode="after")
    def _resolves(self) -> Options:
        check = type(self)._check
        if check is None:
            return self
        try:
            check(self.constants())
        except SpecErrors as errors:
            first = errors.problems[0]
            where = f"{first.file}:{first.line}: " if first.line else ""
            value = f" (got {first.value})" if first.value else ""
            fault = Fault(
                f"{where}{first.message}{value}", first.allowed, first.nearest, show_value=False, whole=True
            )
            raise refuse(fault) from None
        return self

    def constants(self) -> dict[str, Constant]:
        """The values as expressions see them."""
        return {name: _constant(getattr(self, name)) for name in type(self).model_fields}


def _constant(value: Any) -> Constant:
    if isinstance(value, bool):
        return int(value)
    assert value is None or isinstance(value, int | float | str)
    return value


def check_name(name: str, written: Written, what: str) -> None:
    """Raises Wrong when an expression could not name it."""
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        likely = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_") or None
        likely = likely if likely != name else None
        raise written.at(
            written.key, f"{what} cannot be called that", name, "small letters, digits and _", likely
        )
    if name in _RESERVED:
        raise written.at(written.key, f"{what} cannot be called that", name, "a name that is not in use")


def section_from(name: str, about: str, declared: dict[str, Written], gathered: Gathered) -> type[Options]:
    """The section of a workload's declared options; what is wrong with a declaration goes to `gathered`."""
    fields: dict[str, Any] = {}
    for option, written in declared.items():
        with gathered.here():
            check_name(option, written, "an option")
            fields[option] = _field(option, written, gathered)
    class_name = "".join(word.capitalize() for word in re.findall(r"\w+", name)) + "Options"
    section: type[Options] = create_model(class_name, __base__=Options, __doc__=about, **fields)
    return section


def _field(option: str, written: Written, gathered: Gathered) -> tuple[Any, FieldInfo]:
    entries = written.entries(f"options.{option}")
    gathered.add(*written.only(OPTION_KEYS, f"options.{option}"))
    if "default" not in entries:
        raise written.wrong_key(f"options.{option} has no default", allowed="default: VALUE")
    default = entries["default"]
    if default.scalar is None:
        raise default.wrong(f"options.{option}.default is not a value", "a number, a text, true or false")
    about = entries["about"].text_of(f"options.{option}.about") if "about" in entries else None
    annotation, value = _annotation(option, default, entries)
    return annotation, Field(default=value, description=about)


def _annotation(option: str, default: Written, entries: dict[str, Written]) -> tuple[Any, Any]:
    """The type of an option, and its default as a value of this type."""
    value = default.scalar
    kind = entries["kind"].text_of(f"options.{option}.kind") if "kind" in entries else None
    if kind is not None and kind not in _KINDS:
        raise entries["kind"].wrong("unknown kind", ", ".join(_KINDS), nearest(kind, _KINDS))
    if kind == "storage_engine":
        if default.describe().lower() not in STORAGE_ENGINES:
            raise wrong_engine(default, default.describe())
        return Annotated[str, AfterValidator(_storage_engine)], value
    if kind == "duration":
        try:
            return Annotated[float, DurationRule()], parse_duration(str(value))
        except ValueError:
            raise default.wrong("this is not a time", "a time with its unit, as 10ms or 2s") from None
    if "one_of" in entries:
        return _choice(option, default, entries["one_of"])
    is_number = isinstance(value, float) or _count(value) is not None
    for key in ("at_least", "at_most"):
        if key in entries and not is_number:
            raise entries[key].wrong_key(
                f"{key} goes with a number, and the default is none", "default: NUMBER"
            )
    if isinstance(value, bool):
        return bool, value
    if isinstance(value, float):
        return Annotated[float, Field(ge=_bound(entries, "at_least"), le=_bound(entries, "at_most"))], value
    if is_number:
        least, most = _bound(entries, "at_least"), _bound(entries, "at_most")
        rule = CountRule(0 if least is None else int(least), 1_000_000_000 if most is None else int(most))
        number = _count(value)
        if number is None or not rule.at_least <= number <= rule.at_most:
            raise default.wrong("the default is out of bounds", f"{rule.at_least:,} to {rule.at_most:,}")
        return Annotated[int, rule], number
    return Annotated[str, AfterValidator(plain_text)], value


def _count(value: Any) -> int | None:
    """A whole number, also one such as 20k; None for anything else."""
    if isinstance(value, int):
        return None if isinstance(value, bool) else value
    try:
        return CountRule(at_most=10**18).read(value)
    except Exception:  # pydantic's own error type; the text is then a text
        return None


def _choice(option: str, default: Written, written: Written) -> tuple[Any, Any]:
    choices = tuple(item.scalar for item in written.items(f"options.{option}.one_of"))
    if not choices or not all(isinstance(each, str | int) for each in choices):
        raise written.wrong("one_of wants texts or numbers", "one_of: [first, second]")
    if default.scalar not in choices:
        words = [str(each) for each in choices]
        raise default.wrong(
            "the default is none of one_of", ", ".join(words), nearest(default.describe(), words)
        )
    return Literal[choices], default.scalar


def _bound(entries: dict[str, Written], key: str) -> int | float | None:
    if key not in entries:
        return None
    value = entries[key].scalar
    if isinstance(value, str):
        value = _count(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise entries[key].wrong(f"{key} is not a number", allowed="a number")
    return value


def plain_text(value: str) -> str:
    """The text. Raises pydantic's error for typographic dashes or quotes."""
    plain = typographic(value)
    if plain is not None:
        raise refuse(
            Fault("has a typographic character, as word processors make them", "plain - and quotes", plain)
        )
    return value


def _storage_engine(value: str) -> str:
    lower = plain_text(value).lower()
    if lower not in STORAGE_ENGINES:
        raise refuse(unknown_engine(value))
    return lower


def unknown_engine(name: str) -> Fault:
    return Fault("unknown storage engine", ", ".join(STORAGE_ENGINES), nearest(name, STORAGE_ENGINES))


def wrong_engine(written: Written, name: str) -> Wrong:
    """A complaint about the engine of a CREATE TABLE."""
    fault = unknown_engine(name)
    text = written.text or ""
    offset = text.find(name)
    message = fault.message
    if offset < 0:
        return written.at(written.position, message, name, fault.allowed, fault.nearest)
    return written.at(offset, message, name, fault.allowed, fault.nearest)
