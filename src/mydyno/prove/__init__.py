"""Measures what advice is worth: each finding alone and all together, before and after. Pure.

advice -> provable.py   what a finding changes, as steps of an experiment; or why it cannot be measured
       -> levels.py     as it is, each finding alone, all together
       -> shape.py      how much data the load has, and what is scaled with it
       -> experiment.py the experiment file, which `mydyno run` takes as any other
run    -> proof.py      what each finding was worth
       -> table.py      the same as text, Markdown and JSON
mysqltuner/             the advice of another program, to be compared with ours
"""
