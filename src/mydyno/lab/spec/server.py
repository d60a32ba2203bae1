"""setup.server: which server runs, with which settings, and whether it listens on the network."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.config import JsonDict
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from mydyno.core.document.base import Fault, Section, clash, refuse
from mydyno.core.server_release import (
    LONGEST_NAME,
    NAME_PATTERN,
    NAME_RULE,
    SYSTEM,
    is_release_name,
    likely_name,
)
from mydyno.core.server_variables import CONTROLLED, IN_DATA_DIRECTORY, leaves_data_directory, possible_names
from mydyno.lab.spec.config_value import ConfigValue
from mydyno.server.access.address import External

_VARIABLE = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?")
_NAME_SCHEMA: JsonDict = {
    "pattern": r"^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)?$",
    "not": {"pattern": f"^({'|'.join(name.replace('_', '[-_]') for name in sorted(CONTROLLED))})$"},
}
_OF_OWN_SERVERS = {"release", "binary", "network"}
"""Keys that say something of a server that mydyno starts itself."""


def variable_name(written: str) -> str:
    """The variable's own name: options may be written with dashes."""
    return written.replace("-", "_")


def variable_fault(name: str) -> Fault | None:
    """What is wrong with the name of a server variable, whatever its value."""
    spot = ("config", name)
    controlled = next((each for each in possible_names(name) if each in CONTROLLED), None)
    if controlled is not None:
        message = f"an experiment may not set {name}: {CONTROLLED[controlled]}"
        return Fault(message, at=spot, at_key=True, show_value=False, whole=True)
    if not _VARIABLE.fullmatch(name):
        folded = re.sub(r"[^a-z0-9_.]", "", name.strip("_- ").lower())
        likely = folded if folded != name and _VARIABLE.fullmatch(folded) else None
        message = f"{name!r} cannot be a server variable"
        allowed = "small letters, digits and underscores"
        return Fault(message, allowed, likely, at=spot, at_key=True, show_value=False, whole=True)
    return None


def place_fault(name: str, value: Any) -> Fault | None:
    """What is wrong with the place that a variable is given: one outside the data directory."""
    is_place = any(each in IN_DATA_DIRECTORY for each in possible_names(name))
    if not is_place or not isinstance(value, str) or not leaves_data_directory(value):
        return None
    allowed = "a place inside the data directory, without / in front and without .."
    return Fault(f"{name} is outside the data directory", allowed, at=("config", name), whole=True)


class Network(Section):
    """Whether the server listens on TCP (127.0.0.1 only) as well as on its unix socket."""

    port: int | None = Field(default=None, ge=0, le=65535, description="The TCP port; 0 takes any free one.")
    """None: no TCP at all. 0: any free port."""

    @property
    def enabled(self) -> bool:
        return self.port is not None

    @classmethod
    def from_written(cls, raw: Any) -> Any:
        """`false`, `true` or `{port: N}` as keys of this section."""
        if isinstance(raw, bool):
            return {"port": 0} if raw else {}
        if isinstance(raw, cls) or (isinstance(raw, dict) and raw):
            return raw
        nearest = f"{{port: {raw}}}" if isinstance(raw, int) else None
        raise refuse(Fault("is not a network setting", allowed="false, true or {port: N}", nearest=nearest))

    @model_serializer(mode="plain", when_used="json")
    def _as_written(self) -> bool | dict[str, int]:
        return {"port": self.port} if self.port else self.enabled

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        port = {"type": "integer", "minimum": 0, "maximum": 65535}
        mapping = {
            "type": "object",
            "properties": {"port": port},
            "required": ["port"],
            "additionalProperties": False,
        }
        return {"anyOf": [{"type": "boolean"}, mapping]}


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise refuse(Fault("is not an absolute path", allowed="a path from /, as /usr/sbin/mariadbd"))
    if any(ord(character) < 32 for character in path):
        raise refuse(Fault("has a control character in it", allowed="a path from /, as /usr/sbin/mariadbd"))
    return path


def _release_name(name: str) -> str:
    if is_release_name(name):
        return name
    if "/" in name:
        raise refuse(Fault("is not the name of a release", "a name; the path of a server goes into `binary`"))
    raise refuse(Fault("is not the name of a release", NAME_RULE, likely_name(name)))


class Server(Section):
    """The server under test."""

    model_config = ConfigDict(json_schema_extra={"not": {"required": ["release", "binary"]}})

    release: Annotated[str, AfterValidator(_release_name)] = Field(
        default=SYSTEM,
        description="The server by its name: `system` is the mariadbd or mysqld that this machine has; "
        "`mydyno servers list` shows the others. One that can be had is installed by the run.",
        json_schema_extra={"pattern": NAME_PATTERN, "maxLength": LONGEST_NAME},
        examples=["mariadb-10.11", "mysql-5.6"],
    )
    binary: Annotated[str, AfterValidator(_absolute)] | None = Field(
        default=None,
        description="The server binary to run, as an absolute path, instead of `release`. One that is not of "
        "this machine's packages, of PATH or of `mydyno servers` needs `--trust` (docs/reference/trust.md).",
        json_schema_extra={"pattern": "^/"},
    )
    config: dict[str, ConfigValue] = Field(
        default_factory=dict,
        description="Server variables and their values, as in my.cnf. Names may have dashes or underscores; "
        "sizes are as `256M`, switches `ON` and `OFF`, and `25% of memory` is worked out for the machine. "
        "A setting of another release is translated (docs/reference/variables.md); some need `--trust` "
        "(docs/reference/trust.md).",
        json_schema_extra={"propertyNames": _NAME_SCHEMA},
    )
    network: Annotated[Network, BeforeValidator(Network.from_written)] = Field(
        default_factory=Network,
        description="`false`: unix socket only. `true`: also TCP on 127.0.0.1, any free port. "
        "`{port: N}`: that port.",
    )
    external: External | None = Field(
        default=None,
        description="A server that mydyno does not own, instead of one that it starts "
        "(docs/how-to/external-servers.md).",
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        if "release" in raw and "binary" in raw:
            yield clash("binary", "release and binary are both given", "one of them")
        if raw.get("external") is not None:
            for key in _OF_OWN_SERVERS & raw.keys():
                yield clash(
                    key, f"{key} is given, but mydyno does not start an external server", "one of them"
                )
        config = raw.get("config")
        for name, value in config.items() if isinstance(config, dict) else ():
            if fault := variable_fault(name) or place_fault(name, value):
                yield fault

    @model_serializer(mode="wrap", when_used="json")
    def _one_source(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        left_out = _OF_OWN_SERVERS if self.external else {"external", "release" if self.binary else "binary"}
        return {key: value for key, value in written.items() if key not in left_out}
