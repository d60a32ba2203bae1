"""The keys of a step, and which of them go together."""

from __future__ import annotations

from mydyno.core.nearest import nearest
from mydyno.lab.workload.written import Written

AROUND_KEYS = {
    "when": "A condition: where it does not hold, the step is skipped.",
    "else": "The steps for when the condition does not hold.",
    "choose": "A table with copies: one copy is chosen, each alike, for what is inside. "
    "`choose: {TABLE: NUMBER}` says which.",
    "repeat": "How many times.",
    "index": "With `repeat`: a name for the number of the pass, from 0.",
    "let": "NAME: EXPRESSION; draws it now and keeps it for the rest of the event.",
}
"""Go round an action, from outside to inside."""
ACTION_KEYS = {
    "steps": "A block of steps.",
    "use": "The name of one of the file's `blocks`, done here.",
    "mix": "A list of `{weight: NUMBER, steps: [...]}`; one of them is done, chosen by weight.",
    "pause": "Rests: a time, as `10ms`, or an expression in seconds.",
    "reconnect": "`true`: closes the connection and opens it again.",
    "end": "`done` or `failed`: leaves the event; a failed one is not counted as a transaction.",
}
STATEMENT_KEYS = {
    "read": "A name or a list of names for the first columns of the answer.",
    "row": "Which row is read: `first` (default) or `middle`, the row n/2, rounded up, of n.",
    "empty": "When there is no row: `fail` (default: error 1329, the event fails), `keep` (the names "
    "keep what they had) or `skip` (leaves the block that is around).",
    "expect_error": "The code of the error that the statement is to end with; anything else is an error.",
}
"""Go with `NAME: STATEMENT`."""
STEP_KEYS = {**AROUND_KEYS, **ACTION_KEYS, **STATEMENT_KEYS}


def check_keys(item: Written, entries: dict[str, Written]) -> None:
    """One action at most, and only keys that go with it. Raises Wrong."""
    named = [key for key in entries if key not in STEP_KEYS]
    actions = [key for key in entries if key in ACTION_KEYS]
    other_keys = [key for key in entries if key in AROUND_KEYS or key in ACTION_KEYS]
    for key in named:
        close = nearest(key, STEP_KEYS)
        is_statement = entries[key].text is not None
        if not is_statement or (close and (len(named) > 1 or actions)):
            message = "a step: unknown key"
            raise item.at(entries[key].key, message, key, f"{', '.join(STEP_KEYS)}, NAME: STATEMENT", close)
    if len(named) + len(actions) > 1:
        second = [*named, *actions][1]
        raise item.at(entries[second].key, "a step has one action", second, "a separate step for each")
    if not named and not actions and "let" not in entries and "else" not in entries:
        shown = other_keys[0] if other_keys else item.describe()
        raise item.at(item.position, "the step does nothing", shown, "steps: [...] or NAME: STATEMENT")
    for key in entries:
        if key in STATEMENT_KEYS and not named:
            raise item.at(entries[key].key, f"{key} goes with a statement", key, "NAME: STATEMENT")
    for key, needed in (("index", "repeat"), ("else", "when"), ("row", "read"), ("empty", "read")):
        if key in entries and needed not in entries:
            raise item.at(entries[key].key, f"{key} goes with {needed}", key, f"{needed} with it")
