"""Findings that rest on what is not known are withheld: pure.

A role that is not known is tried in every way that it may be: what a rule finds in each of them does not rest
on it, and what it finds only in some is withheld. Of a schema that was seen in part, what a rule finds
is there, and what it misses may be in the part that was not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mydyno.advisor.rule import Judgement, Rule, Unknown
from mydyno.advisor.targets import Targets, targets_of
from mydyno.apply.finding import Finding
from mydyno.survey.facts import Role, System

ROLES: Mapping[str, str] = {
    "replica": "whether the server is a replica",
    "source": "whether replicas follow the server",
    "galera": "whether it is a node of a Galera cluster",
    "group_replication": "whether it is a member of Group Replication",
}
"""What is missing where a field of Role is None."""
HIDDEN_TABLES = "the tables that the account may not see"


@dataclass(frozen=True)
class Known:
    """A system with its targets, and every system that it may be where its role is not known."""

    system: System
    targets: Targets
    possible: Sequence[tuple[System, Targets]]

    @classmethod
    def of(cls, system: System, targets: Targets | None = None) -> Known:
        server = system.server
        others = [
            system.model_copy(update={"server": server.model_copy(update={"role": role})})
            for role in server.role.possible()
            if server.role.unknown
        ]
        decided = targets or targets_of(system)
        return cls(system, decided, [(other, targets or targets_of(other)) for other in others])

    def judge(self, rule: Rule) -> Judgement:
        """What the rule says as far as it rests on what is known."""
        own = rule.judge(self.system, self.targets)
        if self.possible:
            own = self._in_any_role(rule, own)
        return own if isinstance(own, Finding) else self._of_whole_schema(rule, own)

    def _in_any_role(self, rule: Rule, own: Judgement) -> Judgement:
        judged = [rule.judge(system, targets) for system, targets in self.possible]
        findings = [judgement for judgement in judged if isinstance(judgement, Finding)]
        if len(findings) == len(judged):
            mildest = min(findings, key=lambda finding: finding.severity)
            return (own if isinstance(own, Finding) else mildest).model_copy(
                update={"severity": mildest.severity}
            )
        if findings or len({type(judgement) for judgement in judged}) > 1:
            roles = [system.server.role for system, _ in self.possible]
            return Unknown(", ".join(ROLES[name] for name in _that_matter(roles, judged)))
        return judged[0] if isinstance(own, Finding) else own

    def _of_whole_schema(self, rule: Rule, own: Judgement) -> Judgement:
        """`own`, unless it says that something is not there and the schema was seen in part."""
        server = self.system.server
        if server.schema_facts is None or not server.schema_facts.partial:
            return own
        blind = self.system.model_copy(update={"server": server.model_copy(update={"schema_facts": None})})
        rests_on_it = not isinstance(own, Unknown) and isinstance(rule.judge(blind, self.targets), Unknown)
        return Unknown(HIDDEN_TABLES) if rests_on_it else own


def _that_matter(roles: Sequence[Role], judged: Sequence[Judgement]) -> list[str]:
    """The fields of Role that alone make a rule say something else."""
    kinds = {role: type(judgement) for role, judgement in zip(roles, judged, strict=True)}
    return [
        name
        for name in ROLES
        if any(
            kinds.get(role.model_copy(update={name: not getattr(role, name)}), kind) is not kind
            for role, kind in kinds.items()
        )
    ]
