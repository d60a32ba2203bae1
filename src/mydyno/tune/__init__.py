"""Searches for settings by measuring: candidates race against the leader, and what won is confirmed.

search: (spec) -> space.py      the paths that vary and their values; presets.py proposes them by release
               -> starts.py     what is tried first: default, pool only, a tuning sheet made durable, advice
               -> samplers.py   what is tried next, from what was measured: gaussian.py, Optuna
               -> experiment.py a heat as an experiment file, which the lab runs as any other
run            -> scores.py     what each candidate was worth, and which constraints it broke
               -> racing.py     who is stopped, who leads: stated tests
               -> search.py     the loop; journal.py keeps every step, so that a kill loses at most one trial
winner         -> confirm.py    measured again, against all references, on other data
               -> reduce.py     settings removed until only those that matter are left
               -> result.py     best.cnf, an advice file and one record; page.py and table.py show it
"""
