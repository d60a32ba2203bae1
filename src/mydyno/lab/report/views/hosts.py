"""The hosts of a fleet: what each ran, and how much they differ."""

from dataclasses import dataclass

from mydyno.lab.analysis.hosts import (
    HostsCompared,
    control_sentence,
    hosts_of_control,
    hosts_of_run,
    run_sentence,
)
from mydyno.lab.report.evidence import Evidence


@dataclass(frozen=True)
class HostRow:
    host: str
    blocks: int
    """Of which it ran a trial."""
    valid: int
    effect: float | None
    """Ratio of its values to the geometric mean of all hosts, over all trials; None when it is not known."""
    control: float | None
    """The same of the A/A over hosts."""


@dataclass(frozen=True)
class HostsView:
    rows: tuple[HostRow, ...] = ()
    sentences: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """There was no fleet."""
        return not self.rows


def hosts_view(evidence: Evidence) -> HostsView:
    everything = (*evidence.trials, *evidence.control_trials)
    hosts = sorted({trial.host for trial in everything if trial.host is not None})
    if not hosts:
        return HostsView()
    metric = evidence.metric_of(evidence.trials or everything)
    control, whole = hosts_of_control(evidence.control_trials, metric), hosts_of_run(evidence.trials, metric)
    rows = []
    for host in hosts:
        own = [trial for trial in evidence.trials if trial.host == host]
        rows.append(
            HostRow(
                host,
                blocks=len({trial.block for trial in own}),
                valid=sum(trial.status == "valid" for trial in own),
                effect=whole.effects.get(host) if whole else None,
                control=control.effects.get(host) if control else None,
            )
        )
    return HostsView(tuple(rows), _sentences(hosts, control, whole))


def _sentences(
    hosts: list[str], control: HostsCompared | None, whole: HostsCompared | None
) -> tuple[str, ...]:
    if len(hosts) == 1:
        return (f"All trials ran on {hosts[0]}: nothing is known of other hosts.",)
    return (
        *((control_sentence(control),) if control else ()),
        run_sentence(whole)
        if whole
        else "How much the hosts differ over all trials is not known: too few are valid.",
    )
