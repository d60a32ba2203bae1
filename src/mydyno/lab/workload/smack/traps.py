"""What a `.smack` file can run into without noticing: every known trap of super-smack 1.3, by name.

A trap that is found in a file is reported with its place, whether it is corrected (the default) or
imitated (strict-compat).
"""

from dataclasses import dataclass

from mydyno.core.document.problems import Position


@dataclass(frozen=True)
class Trap:
    """`original` says what super-smack does; `corrected` and `strict` what mydyno does in each mode."""

    name: str
    original: str
    corrected: str
    strict: str = "imitated"


TRAPS = {
    trap.name: trap
    for trap in (
        Trap(
            "skipped-character", "characters outside the grammar are skipped without a word", "skipped, too"
        ),
        Trap(
            "dropped-escape",
            "a backslash before anything but a backslash, a double quote or a line end drops all up to the"
            " next of these, which is kept",
            "both characters are kept",
        ),
        Trap(
            "number-with-point",
            "a point between digits joins two numbers: 0.5 is 05",
            "read as a decimal number",
        ),
        Trap("reserved-word", "attribute words and `main` cannot be names in `main`", "accepted", "refused"),
        Trap(
            "defined-twice",
            "not known: nothing says which of two definitions of one name counts",
            "the last one counts",
            "the last one counts",
        ),
        Trap(
            "last-list-word-dropped",
            "the text after the last comma of a list is dropped",
            "the last word is kept",
        ),
        Trap(
            "list-escape",
            "an escaped comma in a list separates words all the same",
            "an escaped comma belongs to the word",
        ),
        Trap("name-at-end-of-query", "a $name at the very end of a query is dropped", "it is expanded"),
        Trap(
            "backslash-stops-expansion",
            "a backslash in a parsed query switches expansion off for the rest of it",
            "expansion goes on; only a $ right after a backslash stays as it is",
        ),
        Trap(
            "second-template-field",
            "a unique template is cut where its second % field begins",
            "all fields get the same counter",
        ),
        Trap(
            "unique-per-process",
            "the counter of a unique dictionary is each process's own: clients make the same values",
            "one counter for all connections and client types",
        ),
        Trap(
            "sleep-milliseconds",
            "the milliseconds of sleep(s, ms) are divided by 1000 and used as microseconds",
            "they are milliseconds",
        ),
        Trap(
            "sampled-dictionary",
            "file_size_equiv keeps every n-th line, n being the file's size in bytes over it",
            "kept: the file asks for it",
        ),
        Trap(
            "last-line-without-newline",
            "the last line of a dictionary's file is ignored when no newline ends it",
            "it counts",
        ),
        Trap(
            "long-line",
            "a line of 512 bytes or more in a dictionary's file is read without end",
            "read like any other",
            "refused",
        ),
        Trap(
            "dictionary-before-table",
            "a dictionary is read at its place in the file, so before a table below it has made its file",
            "dictionaries are read once all tables are made",
        ),
        Trap(
            "stale-data-file",
            "a data file that is there is loaded as it is, even when it does not fit",
            "refused when its lines or fields are not those of its gen-data command",
        ),
        Trap(
            "server-side-load",
            "rows travel by LOAD DATA INFILE: same machine, FILE privilege, secure_file_priv",
            "rows travel over the connection, in INSERT statements",
        ),
        Trap(
            "any-error-means-missing",
            "any error of the table check counts as a missing table",
            "only a missing table does; other errors end the run",
        ),
        Trap(
            "generator-single-width",
            "%5s of gen-data does not mean 5: it draws 0 to 4, and 0 becomes 256",
            "exactly 5",
        ),
        Trap("generator-open-range", "%m-ns of gen-data draws m to n-1", "m to n"),
        Trap("generator-no-width", "%s of gen-data without a width is 256 letters", "256 letters, too"),
        Trap(
            "generator-odd-width",
            "gen-data reads a width digit by digit: %5-s is 5 letters, %-5s is %5s, %2-5-9s is %5-9s,"
            " %9-5s is 9 to 12 letters",
            "the same, but %9-5s is 5 to 9 letters",
        ),
        Trap(
            "generator-unseeded",
            "gen-data is never seeded and never draws the letter z: always the same file",
            "seeded, letters a to z",
            "one fixed seed, letters a to y (the letters themselves are not those of the original)",
        ),
        Trap(
            "unseeded-choice",
            "random words are seeded from time and process number: no two runs are the same",
            "seeded",
            "seeded",
        ),
        Trap(
            "unread-result",
            "without has_result_set the result of a SELECT stays unread, and the next statement fails",
            "every result is read",
            "imitated: the statements after it fail with error 2014",
        ),
        Trap(
            "new-connections",
            "connections live from connect() to collect_threads()",
            "each unload_query_barrel opens its own connections",
            "each unload_query_barrel opens its own connections",
        ),
        Trap(
            "shell-command",
            "gen_data_file is run by the shell, with the user's rights",
            "gen-data runs inside mydyno; other commands need --allow-commands",
            "gen-data runs inside mydyno; other commands need --allow-commands",
        ),
        Trap(
            "inverted-times",
            "max_time is the largest last time of a client, min_time is always 0, in whole ms",
            "true maximum and minimum, with decimals",
            "true maximum in whole ms, minimum 0: the last time of each client is not kept",
        ),
        Trap(
            "silent-failure",
            "a client that fails takes the report with it, and the exit code is 0",
            "errors are counted and reported; the exit code is not 0",
            "errors are counted and reported; the exit code is not 0",
        ),
    )
}


@dataclass(frozen=True)
class TrapAt:
    """One trap at one place of a file; `position` is None for traps of the run as a whole."""

    trap: Trap
    position: Position | None
    detail: str | None = None

    def message(self, file: str, strict: bool) -> str:
        """One line: FILE:LINE:COLUMN: [name] what the original does (detail); what mydyno does."""
        where = f"{file}:{self.position.line}:{self.position.column}" if self.position else file
        detail = f" ({self.detail})" if self.detail else ""
        now = self.trap.strict if strict else self.trap.corrected
        return f"{where}: [{self.trap.name}] {self.trap.original}{detail}; here: {now}"


def trap_at(name: str, position: Position | None = None, detail: str | None = None) -> TrapAt:
    """A finding of the trap `name`. Raises KeyError for the name of an unknown trap."""
    return TrapAt(TRAPS[name], position, detail)
