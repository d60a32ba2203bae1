"""From an experiment to points, trials in a defensible order, cost and side effects. No I/O."""

from mydyno.plan.estimate import Estimate, tablespace_mib
from mydyno.plan.explain import Explanation, explain, render
from mydyno.plan.ground_checks import asked_disks
from mydyno.plan.layers import LAYERS, dataset_of, layer_keys
from mydyno.plan.plan import Plan, PlannedTrial, make
from mydyno.plan.point import Point
from mydyno.plan.trial_times import TrialCost, TrialTime, time_of

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
