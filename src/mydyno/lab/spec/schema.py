"""The JSON Schema of experiment files, so that editors complete and check them.

It accepts every document that the reader accepts and that a server takes, and refuses what is wrong with its
structure: unknown keys and paths, wrong kinds of value, contradicting keys, a word where a server variable is
a number or a switch. What needs arithmetic (a pool larger than the memory, a range that runs downwards) is
left to the reader.

Of each server variable that the catalogue knows it says kind, meaning and history.
An editor completes their names, shows the text, refuses a word where a number belongs, and marks those that a
release named in the same file does not have. Other names stay allowed: only the binary knows them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from mydyno.core.server_variables import CONTROLLED, OFF_WORDS, ON_WORDS
from mydyno.lab.spec.experiment import Experiment
from mydyno.lab.spec.factors import FACTOR_NAME
from mydyno.lab.spec.paths import CONFIG_PATH, FACTOR_ROOTS, ROOTS, known_paths
from mydyno.server.variables import catalogue
from mydyno.server.variables.release import Family
from mydyno.server.variables.row import Row

_SERIES = re.compile(r"(mysql|mariadb)-(\d+)\.(\d+)(?:\.(\d+))?")
_NEWEST_PATCH = 999
_NUMBERS = {
    *("bytes", "pages", "rows", "count", "percent", "number"),
    *("days", "seconds", "milliseconds", "microseconds", "port"),
}
_NUMBER = "^ *-?[0-9]+(\\.[0-9]+)?[KMGTPEkmgtpe]? *$"
_SHARE = "^ *[0-9]+(\\.[0-9]+)? *% +of +(memory|data) *$"


def variables() -> Schema:
    """The schema of the value of each variable, by its name."""
    return {
        name: _value(row)
        | {"description": f"{row.means} Unit: {row.unit}. {row.history()}.", "$comment": row.layer}
        for name, row in catalogue().variables.items()
        if row.where != "running" and name not in CONTROLLED
    }


def of_releases(releases: Iterable[str]) -> list[Schema]:
    """For each release whose name says its series: the variables that it does not have are `deprecated`.

    They are not errors: what another release has in their place may be known (docs/reference/variables.md).
    """
    return [
        {
            "if": {"properties": {"release": {"const": name}}, "required": ["release"]},
            "then": {"properties": {"config": {"properties": dict(_missing(name, match))}}},
        }
        for name in releases
        if (match := _SERIES.fullmatch(name)) is not None
    ]


def _missing(release: str, series: re.Match[str]) -> Iterator[tuple[str, Schema]]:
    family, numbers = Family(series[1]), (int(series[2]), int(series[3]), int(series[4] or _NEWEST_PATCH))
    for name, row in catalogue().variables.items():
        life = row.life(family)
        if name not in CONTROLLED and (life is None or not life.covers(numbers)):
            yield name, {"deprecated": True, "description": f"{release} does not have it: {row.history()}."}


def _value(row: Row) -> Schema:
    words = {word.lower() for word in _words(row)}
    if row.unit == "switch" and words <= ON_WORDS | OFF_WORDS:
        spelled = sorted(
            {form for word in ON_WORDS | OFF_WORDS for form in (word, word.upper(), word.title())}
        )
        return {"enum": [True, False, 1, 0, *spelled]}
    if row.unit in _NUMBERS and all(re.match(_NUMBER, word) for word in words):
        text = f"{_NUMBER}|{_SHARE}" if row.unit == "bytes" else _NUMBER
        return {"anyOf": [{"type": "number"}, {"type": "string", "pattern": text}]}
    return {"$ref": "#/$defs/ConfigValue"}


def _words(row: Row) -> Iterator[str]:
    """The values that the table names: some numbers and switches take words, too."""
    for dropped in row.dropped:
        yield from () if dropped.values == "any" else dropped.values
    yield from (each.value for each in row.refused)
    for loss in row.losses:
        yield from (each for each in (loss.value, *loss.other_than) if each is not None)
    for becomes in row.becomes:
        yield from becomes.words
    for hint in row.hints:
        yield from hint.words


Schema = dict[str, Any]
_LEVEL: Schema = {"type": ["string", "number", "boolean"]}
_CONDITION: Schema = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"anyOf": [_LEVEL, {"type": "array", "minItems": 1, "items": _LEVEL}]},
}
"""Factor to the level or levels that are meant."""
_SYNTAX = re.compile(r"[\^$\\.*+?()\[\]{}|/]")


def _escaped(text: str) -> str:
    """`text` in a pattern of ECMA-262 with its flag u, which JSON Schema asks for.

    There a backslash may stand before a character of the syntax only; `re.escape` puts it before others, too.
    """
    return _SYNTAX.sub(r"\\\g<0>", text)


_CONFIG_PATTERN = f"^{_escaped(CONFIG_PATH)}[a-z]"


def json_schema(releases: Iterable[str] = ()) -> Schema:
    """A JSON Schema (draft 2020-12) for experiment files.

    For each of the server `releases` it marks the variables that the release does not have.
    """
    schema = _without_null(Experiment.model_json_schema(mode="validation"))
    definitions: Schema = schema["$defs"]
    for unused in ("Factor", "Level", "JsonValue", "Condition"):
        definitions.pop(unused, None)
    definitions["condition"] = _CONDITION
    for key in ("exclude", "only"):
        place = definitions["Design"]["properties"][key]
        place |= {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/condition"}}
        place.pop("default", None)
    config = definitions["Server"]["properties"]["config"]
    definitions["ConfigValue"] = config["additionalProperties"]
    definitions["variables"] = {"properties": variables()}
    config["properties"] = _by_name("")
    if of_each := of_releases(releases):
        definitions["Server"]["allOf"] = of_each
    definitions["Search"]["properties"]["space"] |= {
        "additionalProperties": _varied(),
        "propertyNames": {"pattern": r"^(server\.config\.[a-z]|storage\.|limits\.)"},
    }
    definitions["Search"]["anyOf"] = [{"required": ["space"]}, {"required": ["preset"]}]
    levels = {path: _levels(_schema_at(definitions, path)) for path in known_paths(*FACTOR_ROOTS)}
    any_levels = _levels({})
    definitions["settings"] = _settings(definitions, FACTOR_ROOTS, {})
    definitions["factors"] = {
        "type": "object",
        # The pattern below says how levels are written.
        "properties": levels | {path: {"items": value} for path, value in _by_name(CONFIG_PATH).items()},
        "patternProperties": {_CONFIG_PATTERN: _levels({"$ref": "#/$defs/ConfigValue"})},
        "additionalProperties": _or_nested(
            {
                "type": "object",
                "minProperties": 2,
                "additionalProperties": {"minProperties": 1, "$ref": "#/$defs/settings"},
            }
        ),
        "propertyNames": {"pattern": _either(known_paths(*FACTOR_ROOTS))},
    }
    overlay = _settings(definitions, tuple(ROOTS), {"^factors\\.": any_levels})
    definitions["sizes"] = {"type": "object", "additionalProperties": overlay}
    for name in ("factors", "sizes"):
        description = schema["properties"][name]["description"]
        schema["properties"][name] = {"$ref": f"#/$defs/{name}", "description": description}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _varied() -> Schema:
    """What a path of a search is given: values, or the keys of a parameter."""
    values = {"type": "array", "minItems": 2, "uniqueItems": True, "items": _LEVEL}
    keys: Schema = {"$ref": "#/$defs/Parameter"}
    one_way = {"oneOf": [{"required": ["values"]}, {"required": ["range"]}]}
    return {"anyOf": [values, keys | one_way]}


def _by_name(prefix: str) -> Schema:
    """A reference to the schema of each variable, by its name with that prefix."""
    return {f"{prefix}{name}": {"$ref": f"#/$defs/variables/properties/{name}"} for name in variables()}


def _settings(definitions: Schema, roots: tuple[str, ...], more_patterns: Schema) -> Schema:
    """A mapping of dotted paths to values, each of the kind that its path wants."""
    return {
        "type": "object",
        "properties": {path: _schema_at(definitions, path) for path in known_paths(*roots)}
        | _by_name(CONFIG_PATH),
        "patternProperties": {_CONFIG_PATTERN: {"$ref": "#/$defs/ConfigValue"}, **more_patterns},
        "additionalProperties": False,
    }


def _levels(value: Schema) -> Schema:
    return _or_nested(
        {
            "anyOf": [
                {"type": "array", "minItems": 2, "items": value},
                {"type": "object", "minProperties": 2, "additionalProperties": value},
            ]
        }
    )


def _or_nested(levels: Schema) -> Schema:
    """The same levels, or those of a factor that varies only where others have certain levels."""
    nested = {
        "type": "object",
        "properties": {"when": {"$ref": "#/$defs/condition"}, "levels": levels},
        "required": ["when", "levels"],
        "additionalProperties": False,
    }
    return {"anyOf": [levels, nested]}


def _schema_at(definitions: Schema, path: str) -> Schema:
    """A reference to the schema of the value at a dotted path."""
    first, *rest = path.split(".")
    section = ROOTS[first].__name__ if first in ROOTS else "Setup"
    steps = rest if first in ROOTS else [first, *rest]
    pointer = f"#/$defs/{section}"
    for step in steps:
        pointer = _property(definitions, pointer, step)
    return {"$ref": pointer}


def _property(definitions: Schema, pointer: str, key: str) -> str:
    """The pointer to the property `key` of the section at `pointer`, through references and alternatives."""
    schema = _resolve(definitions, pointer)
    if "$ref" in schema:
        return _property(definitions, schema["$ref"], key)
    if key in schema.get("properties", {}):
        return f"{pointer}/properties/{key}"
    alternatives = schema["anyOf"]
    found = next(
        index
        for index, each in enumerate(alternatives)
        if "$ref" in each or key in each.get("properties", {})
    )
    return _property(definitions, f"{pointer}/anyOf/{found}", key)


def _resolve(definitions: Schema, pointer: str) -> Any:
    node: Any = {"$defs": definitions}
    for step in pointer.removeprefix("#/").split("/"):
        node = node[int(step)] if isinstance(node, list) else node[step]
    return node


def _either(paths: list[str]) -> str:
    return f"^({'|'.join(map(_escaped, paths))}|{_escaped(CONFIG_PATH)}.+|{FACTOR_NAME.pattern})$"


def _without_null(schema: Any) -> Any:
    """A value that is left empty is refused, whatever pydantic says of optional fields."""
    if isinstance(schema, list):
        return [_without_null(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: _without_null(value) for key, value in schema.items() if not (key == "default" and value is None)
    }
    alternatives = kept.get("anyOf")
    if isinstance(alternatives, list) and {"type": "null"} in alternatives:
        rest = [each for each in alternatives if each != {"type": "null"}]
        kept.pop("anyOf")
        kept |= rest[0] if len(rest) == 1 else {"anyOf": rest}
    return kept
