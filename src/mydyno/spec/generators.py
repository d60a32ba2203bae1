"""The keys of `workload` that say what the load is made of: exactly one of them is given."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, PrivateAttr, StringConstraints, create_model, model_serializer, model_validator

from mydyno.document.base import Fault, Section, refuse
from mydyno.document.problems import SpecErrors
from mydyno.workload import Resolved, WorkloadFile, builtin_names, read
from mydyno.workload.external import ExternalSlap, ExternalSysbench
from mydyno.workload.sql_bench import SqlBench

_FOLDER: ContextVar[Path] = ContextVar("folder", default=Path())


@contextmanager
def files_beside(folder: Path) -> Iterator[None]:
    """Workload files are looked for in this folder, that of the experiment file."""
    token = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(token)


class OwnFile(Section):
    """A workload file of the user's own."""

    path: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="The workload file, beside the experiment file unless the path says otherwise.",
        examples=["shop.yaml"],
    )
    options: dict[str, str | int | float | bool] = Field(
        default_factory=dict, description="Values for the options that the file declares."
    )
    _file: WorkloadFile = PrivateAttr()
    _resolved: Resolved = PrivateAttr()

    @model_validator(mode="after")
    def _reads(self) -> Self:
        try:
            self._file = read(_FOLDER.get() / self.path)
        except SpecErrors as errors:
            raise _refused(errors, "path") from None
        try:
            self._resolved = self._file.resolve(self.options)
        except SpecErrors as errors:
            raise _refused(errors, "options") from None
        return self

    @model_serializer(mode="plain", when_used="json")
    def _with_contents(self) -> dict[str, Any]:
        """The text of the file counts, not where it lies: another text is another workload."""
        digest = hashlib.sha256(self._file.text.encode()).hexdigest()
        return {"workload": self._file.name, "sha256": digest, "options": self._resolved.options}

    def resolve(self) -> Resolved:
        return self._resolved


def _refused(errors: SpecErrors, key: str) -> Exception:
    return refuse(
        *(
            Fault(
                (f"{problem.file}:{problem.line}: " if problem.line else "") + problem.message,
                problem.allowed,
                problem.nearest,
                at=(key,),
                show_value=False,
                whole=True,
            )
            for problem in errors.problems
        )
    )


_PROGRAMS = {name: read(name) for name in builtin_names()}


def program(name: str) -> WorkloadFile:
    """The built-in workload that is data."""
    return _PROGRAMS[name]


PROGRAMS = tuple(_PROGRAMS)
"""Generators that are workload files which come with mydyno."""

_OTHERS: dict[str, tuple[type[Section], str]] = {
    "file": (OwnFile, "A workload file of your own (docs/workloads.md)."),
    "sql-bench": (SqlBench, "The test programs of sql-bench, by one connection."),
    "sysbench": (ExternalSysbench, "The real sysbench, where it is installed."),
    "mysqlslap": (ExternalSlap, "The real mysqlslap or mariadb-slap, where it is installed."),
}

GENERATORS = (*PROGRAMS, *_OTHERS)
EXTERNAL = ("sysbench", "mysqlslap")

_fields: dict[str, Any] = {
    name: (each.options | None, Field(default=None, description=each.about))
    for name, each in _PROGRAMS.items()
} | {name: (kind | None, Field(default=None, description=about)) for name, (kind, about) in _OTHERS.items()}

Generators: type[Section] = create_model("Generators", __base__=Section, **_fields)
"""A section with one optional key for each generator."""
