"""What each factor explains of the differences between the trials: the numbers behind sentence and figure."""

from dataclasses import dataclass

from mydyno.lab.analysis.effects.effects import Effects, effects
from mydyno.lab.analysis.effects.sentence import remarks, screening, sentence
from mydyno.lab.analysis.words import Words, primary_metric
from mydyno.lab.report.evidence import Evidence


@dataclass(frozen=True)
class EffectsView:
    of: Effects
    words: Words
    sentence: str | None
    """None where there is nothing to say."""
    headline: str | None
    """Where the design takes so few points that hardly two of them differ in one factor alone."""
    remarks: tuple[str, ...]

    @property
    def empty(self) -> bool:
        return self.sentence is None

    @property
    def tested(self) -> bool:
        return any(effect.p_value is not None for effect in self.of.found)


def effects_view(evidence: Evidence, differs: bool = False) -> EffectsView:
    """`differs`: a verdict shows a difference between settings."""
    metric = primary_metric(evidence.valid, evidence.experiment.work)
    analysed = effects(evidence.experiment, evidence.trials, metric, place=evidence.words.load)
    return EffectsView(
        analysed, evidence.words, sentence(analysed, differs), screening(analysed), remarks(analysed)
    )
