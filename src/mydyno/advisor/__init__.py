"""What to change on a live system, and why: rules over facts, one a file; pure.

    facts -> targets (what several settings must agree on) -> rules -> findings -> advice

A rule never does I/O; `mydyno.survey` has read the facts, `mydyno.apply` carries changes out.
"""

from mydyno.advisor.advice import Advice, advise, read_advice
from mydyno.advisor.applied_facts import after
from mydyno.advisor.registry import RULES, rule_of
from mydyno.apply.change import Change
from mydyno.apply.finding import Effect, Finding

__all__ = ["RULES", "Advice", "Change", "Effect", "Finding", "advise", "after", "read_advice", "rule_of"]
