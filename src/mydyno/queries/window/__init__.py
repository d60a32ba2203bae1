"""The slow log of a running server turned on for a while, and what it catches.

    settings     which variables, for which release; which of its outputs is read; pure
    hidden       what a slow log leaves out, and who is not seen in it; pure
    rights       whether the account may set and read that
    files        the log as a file: here or over ssh; pieces.py: across rotations
    table, row   the log as mysql.slow_log, its rows as text of a slow log
    connections  sessions that were there before, with separate thresholds
    watching     the time itself: progress, and what ends it early
    digesting    the entries through the engine
    window       all of it: set, watch, restore, and then the entries

The settings are an application of mydyno's that is held (apply.transaction.held_while).
"""

from mydyno.queries.window.digesting import digest_of, new_file, pipe_from
from mydyno.queries.window.settings import Wish
from mydyno.queries.window.window import Caught, Window, open_window

__all__ = ["Caught", "Window", "Wish", "digest_of", "new_file", "open_window", "pipe_from"]
