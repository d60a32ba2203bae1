"""Index candidates for the groups of a digest, with reasons. Pure (docs/reference/index-candidates.md).

    lookups       the groups of a digest, one after the other
    needs         what a group needs, or why it needs nothing
      evidence    ... by its rows examined, its flags and its plan
      parsing     its statement as a tree; blocks, conditions, sorting, accesses: its needs of each table
      choosing    the columns of an index, and their order
      refusing    why an access gets none; existing: what the table has already
    candidate     needs that one index serves, as a record with its ALTER TABLE; key_parts

Nothing here is imported before it is called: the parser takes a quarter of a second to load.
"""

from mydyno.queries.candidates.schema import Column, Definition, Schema, TableName
from mydyno.queries.records import Digest

__all__ = ["Column", "Definition", "Schema", "TableName", "tables_of", "with_candidates"]


def with_candidates(digest: Digest, schema: Schema | None, most: int) -> Digest:
    """The digest with index candidates for its first `most` groups, and why others get none.

    `schema` None: the indexes that are there are not known. A statement that cannot be understood is
    reported, not raised.
    """
    from mydyno.queries.candidates.lookups import look

    return look(digest, schema, most)


def tables_of(digest: Digest, most: int) -> tuple[TableName, ...]:
    """The tables that `with_candidates` would want to know: those that the first `most` groups read."""
    from mydyno.queries.candidates.lookups import tables

    return tables(digest, most)
