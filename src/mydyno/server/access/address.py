"""setup.server.external: a server that mydyno does not own, and how to get in; never a password.

What an experiment file says is kept in the lab and shown in reports, so it may only name the file that holds
the password.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from mydyno.core.document.base import Fault, Section, clash, refuse
from mydyno.core.errors import UsageError
from mydyno.core.sql_names import SYSTEM_SCHEMAS
from mydyno.server.access.transport import compression

DEFAULT_PORT = 3306
_NOT_OURS = SYSTEM_SCHEMAS
_WAYS = ("dsn", "defaults_file", "socket", "host")
_TRANSPORT = ("ssl_mode", "ssl_ca", "ssl_cert", "ssl_key", "server_public_key")
_PATHS = ("defaults_file", "socket", "password_file", *_TRANSPORT[1:])
_WAYS_TEXT = "defaults_file: ~/.my.cnf, socket: PATH, host: NAME, or mysql://USER@HOST:PORT/DATABASE"
_DATABASE = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_$-]{0,63}")
_DATABASE_ALLOWED = "letters, digits, _, $ and -, at most 64"
_HOST = r"\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+"
_DSN = re.compile(
    rf"mysql://(?P<user>[^:@/?#\s]+)@(?P<host>{_HOST})(?::(?P<port>\d{{1,5}}))?(?:/(?P<database>[^/?#\s]+))?/?"
)
_WITH_PASSWORD = re.compile(r"[a-z]+://[^@/]*:[^@]*@", re.IGNORECASE)
_PASSWORD_PLACE = "password_file: PATH, or defaults_file: ~/.my.cnf with the password in it"
_NO_PASSWORD = "a password may not stand in an experiment file: the lab and the report keep the file"


def _place(path: str) -> str:
    if not path.startswith(("/", "~/")) or any(ord(character) < 32 for character in path):
        raise refuse(Fault("is not a path from the root or from home", "a path from / or ~/"))
    return path


def _host(name: str) -> str:
    if name.startswith(("/", "~")):
        raise refuse(Fault("is a path", "a name or an address", f"socket: {name}"))
    if not re.fullmatch(rf"{_HOST}|[0-9A-Fa-f:.]+", name):
        raise refuse(Fault("is not the name of a host", "a name or an address; the port has a separate key"))
    return name


def _database(name: str) -> str:
    if name.lower() in _NOT_OURS:
        raise refuse(Fault("belongs to the server", "a schema for mydyno's tables", "mydyno"))
    if not _DATABASE.fullmatch(name):
        raise refuse(Fault("is not a schema name that mydyno takes", _DATABASE_ALLOWED))
    return name


_Path = Annotated[str, AfterValidator(_place)]


def _algorithms(text: str) -> str:
    try:
        compression(text)
    except UsageError as error:
        raise refuse(Fault("has an unknown algorithm", str(error.hint))) from None
    return text


class External(Section):
    """A server that is there already. mydyno loads and samples it, and neither starts nor stops it."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [way]} for way in _WAYS]})

    dsn: str | None = Field(
        default=None,
        description="`mysql://USER@HOST:PORT/DATABASE`, short for the keys of these names; `external: DSN` "
        "is short for this key.",
    )
    defaults_file: _Path | None = Field(
        default=None,
        description="A client option file with user, password and socket or host, as `~/.my.cnf`.",
    )
    group: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")] | None = Field(
        default=None, description="Its group to read; default: `client` and those of the usual clients."
    )
    socket: _Path | None = Field(default=None, description="The server's unix socket.")
    host: Annotated[str, AfterValidator(_host)] | None = Field(
        default=None, description="The server's host, by name or address."
    )
    port: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        default=None, description="Its TCP port; default: 3306."
    )
    user: Annotated[str, Field(min_length=1)] | None = Field(default=None, description="The account.")
    password_file: _Path | None = Field(
        default=None, description="A file whose first line is the password; without it there is none."
    )
    ssl_mode: Literal["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"] | None = Field(
        default=None,
        description="How connections for mydyno's own statements are encrypted, as MySQL's clients say it; "
        "default: PREFERRED, with `ssl_ca` VERIFY_CA.",
    )
    ssl_ca: _Path | None = Field(
        default=None, description="The authority (PEM) that has signed the server's certificate."
    )
    ssl_cert: _Path | None = Field(default=None, description="The account's own certificate (PEM).")
    ssl_key: _Path | None = Field(default=None, description="The key of `ssl_cert` (PEM, no passphrase).")
    server_public_key: _Path | None = Field(
        default=None,
        description="The server's RSA key (PEM), for passwords of caching_sha2_password and sha256_password "
        "over plain TCP.",
    )
    compression_algorithms: Annotated[str, AfterValidator(_algorithms)] | None = Field(
        default=None,
        description="Compression of the load's connections, as with the MySQL clients: `zlib`, `zstd`, "
        "`uncompressed` or several, separated by commas; default: `uncompressed`. With several the server "
        "chooses; without `uncompressed` a server that has none of them is an error.",
    )
    zstd_compression_level: Annotated[int, Field(ge=1, le=22)] | None = Field(
        default=None, description="The level of `zstd`; default: 3."
    )
    database: Annotated[str, AfterValidator(_database)] = Field(
        default="mydyno",
        description="The schema for the workload's tables: nothing is written outside it. It is made when "
        "it is missing, and a table in it that mydyno has not made is never dropped.",
    )

    @property
    def description(self) -> str:
        """Which server, for people, as far as the experiment itself says it."""
        if self.defaults_file is not None:
            return f"the server of {self.defaults_file}" + (f" [{self.group}]" if self.group else "")
        return self.socket or f"{self.host}:{self.port or DEFAULT_PORT}"

    @property
    def says_transport(self) -> bool:
        """Whether a separate key says how connections are protected; else the option file may."""
        return any(getattr(self, key) is not None for key in _TRANSPORT)

    @property
    def at_home(self) -> External:
        """The same with `~` spelt out: for those who come later, perhaps as another user."""
        paths = {key: getattr(self, key) for key in _PATHS}
        spelt_out = {key: str(Path(path).expanduser()) for key, path in paths.items() if path is not None}
        return self.model_copy(update=spelt_out)

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        given = [key for key in raw if raw[key] is not None]
        if "password" in given:
            yield clash("password", _NO_PASSWORD, _PASSWORD_PLACE)
        yield from _ways(given)
        dsn = raw.get("dsn")
        if isinstance(dsn, str):
            yield from _of_dsn(dsn, given)

    @model_validator(mode="before")
    @classmethod
    def _spelt_out(cls, raw: Any) -> Any:
        """A DSN as the keys that it stands for. What is wrong with it has been reported by `faults`."""
        if not isinstance(raw, Mapping):
            return raw
        kept = {key: value for key, value in raw.items() if key != "password"}
        match = _DSN.fullmatch(str(raw.get("dsn")))
        if match is None:
            return kept
        port = match["port"]
        parts = {
            "user": unquote(match["user"]),
            "host": match["host"].strip("[]"),
            "port": int(port) if port else None,
            "database": match["database"],
        }
        del kept["dsn"]
        return {**{key: value for key, value in parts.items() if value is not None}, **kept}

    @model_serializer(mode="wrap", when_used="json")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value is not None}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string", "pattern": "^mysql://[^:@/]+@"}, handler(schema)]}


def _ways(given: list[str]) -> Iterator[Fault]:
    ways = [way for way in _WAYS if way in given]
    if not ways:
        yield Fault("does not say which server", _WAYS_TEXT, at_key=True, show_value=False)
        return
    way = ways[0]
    if len(ways) > 1:
        yield clash(ways[1], f"{way} and {ways[1]} are both given", "one of them")
    for key in ("user", "port", *(("password_file",) if way == "defaults_file" else ())):
        if way in ("dsn", "defaults_file") and key in given:
            yield clash(key, f"{key} is given, but {way} says it", "one of them")
    if "group" in given and "defaults_file" not in given:
        yield clash("group", "group is given without a file that has groups", "defaults_file: ~/.my.cnf")
    if way == "socket" and "port" in given:
        yield clash("port", "port is given, but a unix socket has none", "host: NAME instead of socket")
    if way in ("socket", "host") and "user" not in given:
        yield Fault("user is missing", "for example user: bench", at_key=True, show_value=False, whole=True)


def _of_dsn(dsn: str, given: list[str]) -> Iterator[Fault]:
    if _WITH_PASSWORD.match(dsn):
        yield Fault(_NO_PASSWORD, _PASSWORD_PLACE, at=("dsn",), show_value=False, whole=True)
        return
    match = _DSN.fullmatch(dsn)
    if match is None:
        likely = None
        if dsn.startswith(("/", "~/")):
            likely = f"{{defaults_file: {dsn}}}" if dsn.endswith("cnf") else f"{{socket: {dsn}, user: NAME}}"
        yield Fault("is not a DSN", "mysql://USER@HOST:PORT/DATABASE", likely, at=("dsn",))
    elif match["database"] and "database" in given:
        yield clash("database", "database is given, but dsn says it", "one of them")
