"""The user's own data of a point: recognised and identified before a run, loaded when its dataset is made."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.lab.spec import Data
from mydyno.lab.stack.own_data.copying import refuse_unreachable
from mydyno.lab.stack.own_data.loading import load, run_file
from mydyno.lab.stack.own_data.source import OwnData, recognise
from mydyno.lab.stack.server.sandbox import RunningServer
from mydyno.server.program.binary import ServerBinary


@dataclass(frozen=True)
class Identified:
    """What is loaded, and what of it distinguishes one dataset from another."""

    data: OwnData
    described: Data
    contents: Mapping[str, str]


def identify(described: Data, binary: ServerBinary) -> Identified:
    """Reads the whole source once. Raises UsageError when `binary` cannot be given it, LabError."""
    data = recognise(described.source)
    refuse_unreachable(data, binary.version)
    contents = {"kind": data.kind, "checksum": data.checksum()}
    if described.database is not None:
        contents["database"] = described.database
    if described.change is not None:
        contents["change"] = hashlib.sha256(described.change.read_bytes()).hexdigest()
    return Identified(data, described, contents)


def load_own_data(server: RunningServer, own: Identified) -> None:
    """Loads a dump, and runs the schema change. Raises ServerError."""
    described = own.described
    if not own.data.is_files:
        load(server, own.data, described.database)
    if described.change is not None:
        run_file(server, described.change, described.database)
