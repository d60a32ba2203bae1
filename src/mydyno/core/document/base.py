"""What every section of the experiment file shares: frozen, strict about keys, all faults at once."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

FAULTS = "faults"
"""The type of the pydantic error that carries faults of our own in its context."""


@dataclass(frozen=True)
class Fault:
    """Something wrong inside a value; `at` is the way from that value to the exact spot."""

    message: str
    allowed: str | None = None
    nearest: str | None = None
    at: tuple[str | int, ...] = ()
    at_key: bool = False
    """Point at the key rather than at its value."""
    show_value: bool = True
    whole: bool = False
    """The message is a separate sentence, not one that begins with the value's path."""


def clash(key: str, message: str, allowed: str | None = None, nearest: str | None = None) -> Fault:
    """A fault of the combination of keys, shown at `key`; the message is a separate sentence."""
    return Fault(message, allowed, nearest, at=(key,), at_key=True, show_value=False, whole=True)


def refuse(*faults: Fault) -> PydanticCustomError:
    """The error to raise in a validator for one or more faults."""
    return PydanticCustomError(FAULTS, "{summary}", {"summary": faults[0].message, FAULTS: faults})


def slug(name: str) -> str:
    """A name as experiments have them. Refuses any other."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) or len(name) > 64:
        likely = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:64].strip("-")
        raise refuse(
            Fault("is not a name", "small letters, digits and single dashes, at most 64", likely or None)
        )
    return name


class Section(BaseModel):
    """A section of the file. Subclasses add checks over several of their keys in `faults`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    synonyms: ClassVar[Mapping[str, str]] = {}
    """Keys of other programs, with what stands for them here: the hint where one of them is written."""

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        """What is wrong with the combination of keys in `raw`, as written, whatever their values are."""
        return ()

    @model_validator(mode="wrap")
    @classmethod
    def _gather(cls, raw: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Reports faults of the combination together with those of single keys, not one after the other."""
        faults = tuple(cls.faults(raw)) if isinstance(raw, Mapping) else ()
        try:
            section = handler(raw)
        except ValidationError as error:
            if not faults:
                raise
            details = [_again(line) for line in error.errors()]
            details.append(InitErrorDetails(type=refuse(*faults), loc=(), input=raw))
            raise ValidationError.from_exception_data(cls.__name__, details) from None
        if faults:
            raise refuse(*faults)
        return section


def _again(line: Any) -> InitErrorDetails:
    kind = line["type"]
    context = line.get("ctx", {})
    error = PydanticCustomError(kind, "{summary}", context) if kind == FAULTS else kind
    return InitErrorDetails(type=error, loc=line["loc"], input=line["input"], ctx=context)


@dataclass(frozen=True)
class Deferred:
    """In an annotation, `Annotated[Any, Deferred(read)]`: a section whose type is read when a value of it is
    validated or its keys are listed."""

    read: Callable[[], type[Section]]

    def __get_pydantic_core_schema__(self, *_: object) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(lambda raw: self.read().model_validate(raw))

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        section = self.read()
        return handler(section.__pydantic_core_schema__) | {"description": section.__doc__}


def section_of(annotation: Any) -> type[BaseModel] | None:
    """The section type inside an annotation such as `Smack | None`."""
    if isinstance(annotation, Deferred):
        return annotation.read()
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((section for part in get_args(annotation) if (section := section_of(part))), None)
