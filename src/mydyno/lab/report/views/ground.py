"""The disks' environment, how each setting's storage was built, and whether it performed as in theory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean

from mydyno.core.grounds import BY_NAME
from mydyno.core.plurals import agreeing, counted
from mydyno.core.units import format_bytes
from mydyno.lab.analysis.disk_theory import CPU_BOUND, DEVIATION
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.results.records import GroundRecord, SelfCheckRecord, TrialRecord

BUDGETS = {
    "joint": "a disk's limit counts reads and writes together",
    "separate": "a disk's limit counts reads and writes separately",
}
OPERATIONS = {"randwrite": "random writes", "randread": "random reads"}


@dataclass(frozen=True)
class Model:
    """One storage environment in words, and the settings that were built on it."""

    settings: tuple[Setting, ...]
    title: str
    """`a User-Mode Linux guest, kernel 6.1.0, 1 CPU, 512M of memory`"""
    disk_model: str
    budget: str


@dataclass(frozen=True)
class StackRow:
    """A fact of the storage of each setting, as read back from the running system."""

    volume: str
    name: str
    values: tuple[str | None, ...]
    """One for each setting; None where there is none or it was not the same in all of its trials."""

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


@dataclass(frozen=True)
class CheckRow:
    """The self-checks of one operation on one volume of a setting, over all of its trials."""

    setting: Setting
    volume: str
    operation: str
    """`randread` or `randwrite`."""
    block_bytes: int
    expected_iops: float | None
    """None: no limit, no theory, or not the same in all trials."""
    measured_iops: tuple[float, ...]
    """Of each trial; those that failed are not there."""
    least_idle: float | None
    tolerance: float | None
    """Share of the expected IOPS that the measured may be off without a warning; None: not known."""

    @property
    def mean_iops(self) -> float | None:
        return fmean(self.measured_iops) if self.measured_iops else None

    @property
    def ratio(self) -> float | None:
        """Mean over expected; None unless both are known."""
        if self.mean_iops is None or self.expected_iops is None:
            return None
        return self.mean_iops / self.expected_iops


@dataclass(frozen=True)
class GroundView:
    """Empty for an experiment without storage."""

    settings: tuple[Setting, ...]
    models: tuple[Model, ...]
    stack: tuple[StackRow, ...]
    """Volume by volume, bottom first."""
    checks: tuple[CheckRow, ...]
    """Setting by setting, its volumes in their order, writes before reads as they ran."""

    @property
    def empty(self) -> bool:
        return not self.models

    @property
    def volumes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.volume for row in self.checks))


def ground_view(evidence: Evidence) -> GroundView:
    settings = evidence.settings
    return GroundView(
        settings=settings,
        models=_models(evidence),
        stack=_stack(evidence),
        checks=tuple(row for setting in settings for row in _checks(evidence, setting)),
    )


def verified(evidence: Evidence) -> Iterator[str]:
    """What the self-checks measured, and how many trials have a warning from them; nothing without one."""
    checks = [check for trial in evidence.trials for check in trial.self_checks]
    if not checks:
        return
    yield (
        "Before the load of each trial its storage was read back from the kernel and the tools, and each "
        f"volume was checked with fio: {_ways(checks)}."
    )
    compared = sum(check.ratio is not None for check in checks)
    warned = sum(
        any(remark.check in (DEVIATION, CPU_BOUND) for remark in trial.remarks) for trial in evidence.trials
    )
    yield (
        f"{compared} of {counted(len(checks), 'check')} could be compared with theory; {warned or 'none'} of "
        f"{counted(len(evidence.trials), 'trial')} {agreeing(warned, 'has')} a warning from them."
    )


def _ways(checks: list[SelfCheckRecord]) -> str:
    """`4K random writes and reads, bypassing the cache, 16 to 64 in flight, 2 s each`"""
    depths = sorted({check.queue_depth for check in checks})
    flight = str(depths[0]) if len(depths) == 1 else f"{depths[0]} to {depths[-1]}"
    sizes = "/".join(f"{size // 1024}K" for size in sorted({check.block_bytes for check in checks}))
    seconds = max(check.seconds for check in checks)
    return f"{sizes} random writes and reads, bypassing the cache, {flight} in flight, {seconds:g} s each"


def _models(evidence: Evidence) -> tuple[Model, ...]:
    models: dict[tuple[str, str, str], dict[str, Setting]] = {}
    settings = {setting.point_id: setting for setting in (*evidence.settings, *evidence.controls)}
    for trial in evidence.trials:
        if trial.ground is not None:
            key = _model_text(trial.ground), trial.ground.disk_model, BUDGETS[trial.ground.budget]
            models.setdefault(key, {})[trial.point_id] = settings[trial.point_id]
    return tuple(
        Model(tuple(sorted(stood.values(), key=lambda setting: setting.slot)), *key)
        for key, stood in models.items()
    )


def _model_text(ground: GroundRecord) -> str:
    cpus = counted(ground.cpus, "CPU")
    memory = "" if ground.memory_bytes is None else f", {format_bytes(ground.memory_bytes)} of memory"
    title = BY_NAME[ground.kind].title if ground.kind in BY_NAME else ground.kind
    return f"{title}, kernel {ground.kernel}, {cpus}{memory}"


def _stack(evidence: Evidence) -> tuple[StackRow, ...]:
    of_setting = [_facts(evidence.trials_of(setting.point_id)) for setting in evidence.settings]
    names = dict.fromkeys(key for facts in of_setting for key in facts)
    volumes = dict.fromkeys(volume for volume, _ in names)
    return tuple(
        StackRow(volume, name, tuple(facts.get((volume, name)) for facts in of_setting))
        for each in volumes
        for volume, name in names
        if volume == each
    )


def _facts(trials: Iterable[TrialRecord]) -> dict[tuple[str, str], str | None]:
    """(volume, name) -> what every trial of a setting read back; None where they differ."""
    seen: dict[tuple[str, str], set[str]] = {}
    for trial in trials:
        for volume in trial.ground.volumes if trial.ground is not None else ():
            for name, value in volume.facts.items():
                seen.setdefault((volume.name, name), set()).add(value)
    return {key: next(iter(values)) if len(values) == 1 else None for key, values in seen.items()}


def _checks(evidence: Evidence, setting: Setting) -> list[CheckRow]:
    checks_by_load: dict[tuple[str, str, int], list[tuple[SelfCheckRecord, float | None]]] = {}
    for trial in evidence.trials_of(setting.point_id):
        known = None if trial.ground is None else BY_NAME.get(trial.ground.kind)
        allowed = None if known is None else known.tolerance
        for check in trial.self_checks:
            key = check.volume, check.operation, check.block_bytes
            checks_by_load.setdefault(key, []).append((check, allowed))
    rows = []
    for (volume, operation, block_bytes), checks in checks_by_load.items():
        expected = {check.expected_iops for check, _ in checks}
        idle = [check.idle for check, _ in checks if check.idle is not None]
        rows.append(
            CheckRow(
                setting=setting,
                volume=volume,
                operation=operation,
                block_bytes=block_bytes,
                expected_iops=expected.pop() if len(expected) == 1 else None,
                measured_iops=tuple(
                    check.measured_iops for check, _ in checks if check.measured_iops is not None
                ),
                least_idle=min(idle, default=None),
                tolerance=max((share for _, share in checks if share is not None), default=None),
            )
        )
    return rows
