"""What the engine reports of a trace. Times are microseconds; what a source does not show is None, not 0."""

from pydantic import BaseModel, ConfigDict


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class Header(_Record):
    source: str
    """`slow-log`, `general-log`, `packets`, `several` or `synthetic`."""
    server: str | None
    masked: bool
    start_us: int | None
    """Since 1970, UTC."""
    resolution_us: int


class Skipped(_Record):
    """What was met in a file and is not in the trace."""

    kind: str
    count: int
    file: str
    at_byte: int | None
    """Of the first one, uncompressed."""
    says: str


class SourceFile(_Record):
    name: str
    bytes: int
    statements: int


class Footer(_Record):
    connections: int
    closed: int
    statements: int
    length_us: int
    sql_bytes: int
    skipped: tuple[Skipped, ...]
    files: tuple[SourceFile, ...]


class Trace(_Record):
    header: Header
    footer: Footer


class Count(_Record):
    name: str
    statements: int


class Group(_Record):
    id: str
    fingerprint: str
    statements: int
    duration_us: int | None
    errors: int


class Summary(Trace):
    reads: int
    writes: int
    other: int
    errors: int | None
    prepared: int
    span_us: int
    rate: tuple[int, ...]
    """Statements that began in each span."""
    schemas: tuple[Count, ...]
    users: tuple[Count, ...]
    fingerprints: int
    top: tuple[Group, ...]
