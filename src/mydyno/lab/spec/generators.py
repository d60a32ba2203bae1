"""The keys of `workload` that say what the load is made of: exactly one of them is given."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, PrivateAttr, StringConstraints, create_model, model_serializer, model_validator

from mydyno.core.document.base import Deferred, Fault, Section, refuse
from mydyno.core.document.problems import Problem, SpecErrors
from mydyno.core.document.spec_folder import spec_folder
from mydyno.lab.workload import Resolved, builtin_names, read, slap
from mydyno.lab.workload.external_program import ExternalSlap, ExternalSysbench, FioOptions
from mydyno.lab.workload.smack import resolve as smack
from mydyno.lab.workload.sql_bench import SqlBench
from mydyno.lab.workload.trace import TraceOptions


class OwnFile(Section):
    """A workload file of the user's own: one of the dialect, or a `.smack` script of super-smack."""

    path: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="The workload file, relative to the folder of the experiment file.",
        examples=["shop.yaml"],
    )
    options: dict[str, str | int | float | bool] = Field(
        default_factory=dict, description="Values for the options that the file declares."
    )
    sha256: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{64}$",
        description="Digest of what the file makes the engine do. mydyno writes it into its plan; in an "
        "experiment it refuses a file that has changed.",
    )
    _resolved: Resolved = PrivateAttr()

    @model_validator(mode="after")
    def _reads(self) -> Self:
        path = spec_folder() / self.path
        try:
            if path.suffix == ".smack":
                self._resolved = _script(path, self.options)
                return self._checked()
            file = read(path)
        except SpecErrors as errors:
            raise _refused(errors, "path") from None
        try:
            self._resolved = file.resolve(self.options)
        except SpecErrors as errors:
            raise _refused(errors, "options") from None
        return self._checked()

    def _checked(self) -> Self:
        if self.sha256 not in (None, self.digest):
            raise refuse(Fault(f"{self.path} has changed", self.digest, at=("sha256",), whole=True))
        return self

    @property
    def digest(self) -> str:
        """Of what the file makes the engine do, the files that it extends and reads included."""
        program = json.dumps(self._resolved.program, sort_keys=True)
        return hashlib.sha256(program.encode()).hexdigest()

    @model_serializer(mode="plain", when_used="json")
    def _with_digest(self) -> dict[str, Any]:
        return {"path": self.path, "options": self._resolved.options, "sha256": self.digest}

    def resolve(self) -> Resolved:
        return self._resolved


def _script(path: Path, options: Mapping[str, Any]) -> Resolved:
    """A script of super-smack; its only options are the client and whether defects are imitated."""
    unknown = [name for name in options if name not in ("client", "strict_compat")]
    if unknown:
        raise refuse(
            Fault(
                "is not an option of a .smack file",
                "client, strict_compat",
                at=("options", unknown[0]),
                at_key=True,
            )
        )
    client = options.get("client")
    strict = options.get("strict_compat", False) is True
    return smack.resolve_file(path, None if client is None else str(client), strict)


def _refused(errors: SpecErrors, key: str) -> Exception:
    return refuse(
        *(
            Fault(
                f"{_place(problem)}: {problem.what}",
                problem.allowed,
                problem.nearest,
                at=(key,),
                show_value=False,
                whole=True,
            )
            for problem in errors.problems
        )
    )


def _place(problem: Problem) -> str:
    """Where a problem of another file is, by the file's name alone: its folder is known."""
    name = Path(problem.file).name
    return f"{name}:{problem.line}" if problem.line else name


PROGRAMS = builtin_names()
"""Generators that are workload files which come with mydyno."""

_OTHERS: dict[str, tuple[type[Section], str]] = {
    "file": (OwnFile, "A workload file (docs/reference/workloads.md) or a `.smack` script of your own."),
    "trace": (TraceOptions, "A trace of real traffic, replayed on its connections and at its pace."),
    "slap": (slap.Options, "The auto-generated load of mysqlslap, by the engine."),
    "sql-bench": (SqlBench, "The test programs of sql-bench, by one connection."),
    "sysbench": (ExternalSysbench, "The real sysbench, where it is installed."),
    "mysqlslap": (ExternalSlap, "The real mysqlslap or mariadb-slap, where it is installed."),
    "fio": (
        FioOptions,
        "The real fio, where it is installed, on the files of a volume; no server is driven.",
    ),
}

GENERATORS = (*PROGRAMS, *_OTHERS)
EXTERNAL = ("sysbench", "mysqlslap")
OWN_ORDER = ("sql-bench", "fio", "trace")
"""Generators that decide their phases themselves."""


def _options(name: str) -> Any:
    """The options of a built-in workload, whose file is read when an experiment uses it: there are many."""
    return Annotated[Any, Deferred(lambda: read(name).options)]


_fields: dict[str, Any] = {name: (_options(name) | None, Field(default=None)) for name in PROGRAMS} | {
    name: (kind | None, Field(default=None, description=about)) for name, (kind, about) in _OTHERS.items()
}

Generators: type[Section] = create_model("Generators", __base__=Section, **_fields)
"""A section with one optional key for each generator."""
