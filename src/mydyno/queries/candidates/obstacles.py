"""What keeps an index from being used, and what to write instead.

Sources: MySQL Reference Manual, "Comparison of B-Tree and Hash Indexes" (LIKE), "Type Conversion in
Expression Evaluation", "How MySQL Uses Indexes" (dissimilar columns), "CREATE INDEX Statement" (functional
key parts, since 8.0.13), "Function Call Optimization" (RAND() for each row), "Row Constructor Expression
Optimization".
"""

from sqlglot import exp

from mydyno.core.server_version import Version
from mydyno.queries.candidates.schema import Column

_STRINGS = frozenset({"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set"})
_NUMBERS = frozenset(
    {"tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "year", "bit"}
)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Paren)
_DAYS = (exp.TsOrDsToDate, exp.Date)
_SHOWN = 60
# MariaDB 11.1 turns both into ranges by itself (MDEV-8320).
_DATES_ARE_RANGES = (11, 1, 0)
_CONVERTED = ("utf8mb3", "utf8", "latin1", "ascii", "ucs2")
"""Character sets whose side is converted where it meets another one, utf8mb4 before all."""


# What keeps an index from being used, of the columns or the text in {}.
REGULAR_EXPRESSION = (
    "a regular expression on {} is evaluated for every row: LIKE 'beginning%' can use an index"
)
RANDOM = "{} is evaluated again for every row: put it into a variable first"
TRUTH = "{0} as a condition is a range at best, and none in older releases: write {0} = 1"
ROWS = "({}) compared by < or > as a row is not an index range: write it out with AND and OR"
EITHER = (
    "OR over {}: no single index serves both; a UNION of two SELECTs, each with its own index, does (or the"
    " optimizer's index_merge, with an index on each)"
)
WORDS = "MATCH needs a FULLTEXT index on exactly ({}), which no other index replaces"


def written(tree: exp.Expr) -> str:
    """A piece of the statement, shortened."""
    try:
        text = tree.sql(dialect="mysql")
    except (ValueError, RecursionError, AttributeError, TypeError):
        text = type(tree).__name__
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def is_date_range(tree: exp.Expr, release: Version | None) -> bool:
    """Whether the release looks up DATE(column) and YEAR(column) as ranges of the column."""
    if release is None or not release.is_mariadb or release.numbers < _DATES_ARE_RANGES:
        return False
    inner = tree.this.this if isinstance(tree, exp.Year) and isinstance(tree.this, _DAYS) else tree.this
    return isinstance(tree, (*_DAYS, exp.Year)) and isinstance(inner, exp.Column)


def of_expression(tree: exp.Expr, column: str) -> str:
    """`tree` is in the place of the bare `column`."""
    text = written(tree)
    if isinstance(tree, _DAYS):
        instead = f"{column} >= day AND {column} < day + INTERVAL 1 DAY"
    elif isinstance(tree, exp.Year | exp.Month):
        instead = f"a range: {column} >= its first day AND {column} < the day after its last"
    elif isinstance(tree, exp.Lower | exp.Upper):
        instead = f"{column} alone: a collation _ci compares without case"
    elif isinstance(tree, (*_ARITHMETIC, exp.DateAdd, exp.DateSub)):
        instead = f"{column} alone on one side, the arithmetic on the other"
    elif isinstance(tree, exp.Coalesce):
        instead = f"{column} = value OR {column} IS NULL"
    else:
        instead = "a generated column with an index, or (MySQL 8.0.13) an index on the expression"
    return f"{text} is computed for every row, so no index on {column} can be used: write {instead}"


def of_like(column: str, pattern: str) -> str:
    return (
        f"{column} LIKE '{pattern[:_SHOWN]}' begins with a wildcard, so an index cannot be used:"
        " a FULLTEXT index finds words, a generated column REVERSE(...) finds ends"
    )


def of_number(column: Column) -> str:
    return (
        f"{column.name} is {column.type} and compared with a number: every row's text is converted, so no"
        " index on it is used; write the number in quotes"
    )


def is_converted_number(column: Column | None, other: exp.Expr) -> bool:
    """Whether a column of text is compared with a number."""
    if column is None or column.kind not in _STRINGS - {"enum", "set"}:
        return False
    return all(
        isinstance(each, _ARITHMETIC) or (isinstance(each, exp.Literal) and not each.is_string)
        for each in other.walk()
    )


def of_join(column: Column | None, other: Column | None, release: Version | None) -> str | None:
    """Why `column` cannot be looked up by the values of `other`; None where it can, or that is not known."""
    if column is None or other is None:
        return None
    if column.kind in _STRINGS and other.kind in _NUMBERS:
        return f"{column.name} is {column.type} and {other.name} is {other.type}: use one type for both"
    if not column.collation or not other.collation or column.collation == other.collation:
        return None
    mine, theirs = _characters(column.collation), _characters(other.collation)
    # Values of one character set are compared as _bin has it: MariaDB still looks them up by another's index.
    is_mariadb = release is not None and release.is_mariadb
    is_compared_otherwise = mine == theirs and other.collation.endswith("_bin") and not is_mariadb
    if is_compared_otherwise or (mine in _CONVERTED and theirs not in _CONVERTED):
        return (
            f"{column.name} is {column.collation} and {other.name} is {other.collation}: every value is"
            " converted; use one collation for both (ALTER TABLE ... CONVERT TO CHARACTER SET)"
        )
    return None


def _characters(collation: str) -> str:
    return collation.partition("_")[0]
