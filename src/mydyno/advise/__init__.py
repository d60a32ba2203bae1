"""What to change on a live system, and why: rules over facts, one a file; pure.

    facts -> targets (what several settings must agree on) -> rules -> findings -> advice

A rule never does I/O; `mydyno.survey` has read the facts, `mydyno.apply` carries changes out.
"""

from mydyno.advise.advice import Advice, advise, read_advice
from mydyno.advise.after import after
from mydyno.advise.change import Change
from mydyno.advise.finding import Effect, Finding
from mydyno.advise.registry import RULES, rule_of

__all__ = ["RULES", "Advice", "Change", "Effect", "Finding", "advise", "after", "read_advice", "rule_of"]
