"""From an experiment to points, trials in a defensible order, cost and side effects. No I/O."""

from mydyno.lab.plan.estimate import Estimate, tablespace_mib
from mydyno.lab.plan.explain import Explanation, explain, render
from mydyno.lab.plan.ground_checks import asked_disks
from mydyno.lab.plan.layers import LAYERS, dataset_of, layer_keys
from mydyno.lab.plan.plan import Plan, PlannedTrial, make
from mydyno.lab.plan.point import Point
from mydyno.lab.plan.trial_times import TrialCost, TrialTime, time_of

__all__ = [
    "LAYERS",
    "Estimate",
    "Explanation",
    "Plan",
    "PlannedTrial",
    "Point",
    "TrialCost",
    "TrialTime",
    "asked_disks",
    "dataset_of",
    "explain",
    "layer_keys",
    "make",
    "render",
    "tablespace_mib",
    "time_of",
]
