"""Advice carried out on this machine, with a way back that a kill at any moment cannot take away.

    finding      what a rule found, and which findings are to be carried out
    reading      what the server reads when it starts
    proposal     edits/: the text that each change makes of a file, one kind of file a module; pure
    refusals     values with which the server would not start, and texts with a line break; pure
    preparing    files/: the act that puts a text in place; acts/: what takes effect now
    checks       the new texts, read by the programs that will read them
    store/       the application is written down: acts, journal, bytes of files, lock
    transaction  all acts or none: do, look, commit | restore; guardian: by a second process, if need be
    rolling_back the same acts reversed
    history      what was applied and what came of it

An act (act.py) is a step from `before` to `after`, both in its fields; going back is doing the reversed act.
"""
