"""Advice carried out on this machine, with a way back that a kill at any moment cannot take away.

advice -> edits (new texts of files, pure) + acts (what takes effect now)
       -> diff, question -> checks of the new texts -> journal -> do -> verify -> commit | put back

act.py         what an act is: before and after as data, do, look, reversed
acts/          acts on the live system, one a file, and which of them a change needs
edits/         the text that a change makes of a file, one kind of file a module; pure
files/         replacing files whole, inside a root, byte for byte back
store/         the folder of applications: journal, lock, kept bytes, history
transaction.py all acts or none; guardian.py: the process that puts back when that one dies
"""
