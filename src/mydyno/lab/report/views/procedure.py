"""How the run was made and judged, in plain words with sources: only what this run really used."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mydyno.core.factors import last_part
from mydyno.core.plurals import counted
from mydyno.lab.analysis.bootstrap import LEVEL, SMALLEST_SAMPLE
from mydyno.lab.analysis.observations import place_of
from mydyno.lab.analysis.sequential import nominal_level
from mydyno.lab.report.evidence import Evidence
from mydyno.lab.report.views.effects import EffectsView
from mydyno.lab.report.views.method import Method
from mydyno.lab.report.views.optima import Optima
from mydyno.lab.report.views.verdicts import Verdicts
from mydyno.lab.results.records import Work


@dataclass(frozen=True)
class Step:
    title: str
    text: str
    sources: tuple[str, ...] = ()
    """Keys of SOURCES."""


_CHECKED: Mapping[Work, str] = {
    "queries": "settings in force, connections reached, errors, rows",
    "ios": "limits in force, errors",
}
"""Some of the checks of a trial."""


def procedure(
    evidence: Evidence, method: Method, verdicts: Verdicts, effects: EffectsView, optima: Optima
) -> tuple[Step, ...]:
    """In the order in which they were done."""
    imported = evidence.experiment.imported
    steps = [
        *((_imported(),) if imported else (*_points(evidence), _order(evidence), _repetition(evidence))),
        *_load(evidence, method),
        *(() if imported else _measured(evidence, method)),
        *_compared(verdicts, evidence),
        *_fitted(effects, optima),
        *_time(evidence),
    ]
    for step in steps:
        assert all(key in SOURCES for key in step.sources), step
    return tuple(steps)


def _imported() -> Step:
    return Step(
        "Where the numbers come from",
        "They were measured elsewhere and imported from a table; see their source. The next steps describe "
        "the analysis.",
    )


def _points(evidence: Evidence) -> Iterator[Step]:
    design, points = evidence.experiment.design, len(evidence.experiment.compared_points)
    of = f"{counted(points, 'point')}, each one combination of the factors' levels"
    if design.points == "one-at-a-time":
        yield Step(
            "Points",
            f"{points} points: the first levels of all factors, then each other level alone. Interactions of "
            "factors are not measured.",
        )
    elif design.points == "plackett-burman":
        yield Step(
            "Points",
            f"{of}, chosen after Plackett and Burman: main effects are measured with as few points as "
            "possible, each mixed with interactions of two other factors.",
            ("plackett-burman",),
        )
    elif design.points == "fraction":
        resolution = "" if design.resolution is None else f" of resolution {design.resolution}"
        yield Step(
            "Points",
            f"{of}: a regular fraction{resolution} of all combinations. Aliased effects cannot be "
            "distinguished.",
            ("fractions",),
        )


def _order(evidence: Evidence) -> Step:
    design = evidence.experiment.design
    orders = _orders(evidence)
    shuffled = (
        f"in an order shuffled again for each block from the seed {evidence.experiment.seed}"
        if len(set(orders)) > 1
        else "in the same order in each"
    )
    together = ""
    sources = ["fisher"]
    if any(design.hard_factors):
        names = ", ".join(dict.fromkeys(last_part(name) for group in design.hard_factors for name in group))
        together = (
            f" Inside a block trials of the same {names} follow each other, since changing that rebuilds "
            "layers of the setup: a split-plot order."
        )
        sources.append("split-plot")
    fresh = (
        " Every trial got a fresh server on a clone of the same data."
        if any(trial.data is not None for trial in evidence.trials)
        else ""
    )
    in_slices = ""
    if design.sliced:
        everything = len(design.sliced) == 1 and len(design.sliced[0]) == len(evidence.experiment.points)
        lengths = " or ".join(dict.fromkeys(f"{seconds:g}" for seconds in design.slice_s))
        those = "all points" if everything else "the points of one load"
        in_slices = (
            f" In a block {those} were measured together: each had a server that ran the whole time, and one "
            "engine drove them in turn, in slices of "
            f"{lengths} s, in a random order in each round. Rates come from a robust fit over all rounds, so "
            "that the ratio of two points is a ratio within rounds."
        )
        sources.append("duet")
    hosts = {trial.host for trial in evidence.trials} - {None}
    on_hosts = (
        f" Whole blocks were given to {len(hosts)} hosts, which ran side by side: points are compared within "
        "hosts, and the rest of a block whose host was lost ran on another one."
        if len(hosts) > 1
        else ""
    )
    rest = f" There was a pause of {design.rest_s:g} s between blocks." if design.rest_s else ""
    return Step(
        "Order",
        f"Trials ran in blocks: each block holds every point once, {shuffled}. Drift over time then affects "
        "all points equally, and trials of one block can be compared with each "
        f"other.{in_slices}{together}{on_hosts}{rest}{fresh}",
        tuple(sources),
    )


def _orders(evidence: Evidence) -> list[tuple[str, ...]]:
    """The points of each block in the order in which they ran, whole blocks only."""
    blocks: dict[int, list[str]] = {}
    for trial in evidence.trials:
        if trial.attempt == 1:
            blocks.setdefault(trial.block, []).append(trial.point_id)
    most = max(map(len, blocks.values()), default=0)
    return [tuple(points) for points in blocks.values() if len(points) == most]


def _repetition(evidence: Evidence) -> Step:
    design = evidence.experiment.design
    blocks = len({trial.block for trial in evidence.trials})
    control = (
        " One point was measured twice in each block under two names (an A/A control): the difference "
        "between the two is noise. Other points are compared with the mean of both."
        if any(point.control_of for point in evidence.experiment.points)
        else ""
    )
    if design.until is None or design.first_look is None or design.at_most is None:
        text = f"The number of repetitions was fixed beforehand; {counted(blocks, 'block')} ran.{control}"
        return Step("Repetition", text)
    level = nominal_level(design.first_look, design.at_most)
    return Step(
        "Repetition",
        f"After block {design.first_look} and each later one the intervals were computed, and the run ended "
        f"when each was within ±{design.until * 100:g}%, or after {design.at_most} blocks; {blocks} "
        f"ran. To correct for repeated looks, each used {level * 100:.2f}% intervals: all looks together err "
        f"in at most {(1 - LEVEL) * 100:.0f} of 100 runs.{control}",
        ("pocock", "repeated"),
    )


def _load(evidence: Evidence, method: Method) -> Iterator[Step]:
    if method.load and not evidence.experiment.imported:
        by_loop = {phase.latency_kind for trial in evidence.trials for phase in trial.phases}
        yield Step(
            "Load", " ".join(method.load), ("open-loop",) if by_loop and not _only_programs(evidence) else ()
        )


def _only_programs(evidence: Evidence) -> bool:
    return evidence.by_program


def _measured(evidence: Evidence, method: Method) -> Iterator[Step]:
    phases = [phase for trial in evidence.trials for phase in trial.phases]
    if not phases:
        return
    warmed = any(
        phase.measured_from_s is not None and phase.measured_from_s > phase.started_s for phase in phases
    )
    judged = any(phase.steady_from_s is not None for phase in phases)
    histograms = any(phase.latency.p99_ns is not None for phase in phases)
    sentences = [
        *(("The warm-up, before the measured window, is not counted.",) if warmed else ()),
        *method.steady,
        *(
            (
                "Percentiles of a phase come from a histogram of all latencies with three significant "
                "digits; those of a point are means over its trials.",
            )
            if histograms
            else ()
        ),
        f"A trial that fails a check ({_CHECKED[evidence.experiment.work]}, a client or a neighbour that "
        "took the CPU) is shown but not counted.",
    ]
    histogram = ("fio" if evidence.experiment.work == "ios" else "histogram",) if histograms else ()
    closed = any(place_of(phase) not in evidence.programs for phase in phases)
    yield Step(
        "Measurement",
        " ".join(sentences),
        (*histogram, *(("mser",) if judged else ()), *(("littles-law",) if judged and closed else ())),
    )


def _compared(verdicts: Verdicts, evidence: Evidence) -> Iterator[Step]:
    if not verdicts.ratios:
        return
    valid: dict[str, int] = {}
    for trial in evidence.valid:
        valid[trial.point_id] = valid.get(trial.point_id, 0) + 1
    text = (
        f"One trial is one observation, never one of its {evidence.words.events}. Points are compared by the "
        "ratio of their geometric means: on logarithms, since noise in a benchmark is proportional."
    )
    sources: list[str] = []
    paired = [view.paired for view in verdicts.ratios]
    if max(valid.values(), default=0) < SMALLEST_SAMPLE:
        yield Step(
            "Comparison",
            f"{text} An interval needs {SMALLEST_SAMPLE} valid trials of each, so there is none.",
        )
        return
    if any(paired):
        text += " Trials of the same block are compared as pairs, which removes what the block has in common."
    if not all(paired):
        text += " Where blocks lack a trial of one side, both are independent groups of unequal variance."
        sources.append("welch")
    text += (
        f" Intervals are {LEVEL * 100:g}% intervals: a smoothed, symmetric bootstrap-t with a fixed seed, "
        "whose coverage holds with 3 trials as well as with 20."
    )
    sources += ["bootstrap-t", "symmetric", "smoothed"]
    text += " Where several ratios are tested, p values are corrected for multiple comparisons (Holm)."
    sources.append("holm")
    yield Step("Comparison", text, tuple(sources))


def _fitted(effects: EffectsView, optima: Optima) -> Iterator[Step]:
    if not effects.empty:
        yield Step(
            "Effects",
            "What each factor explains is its share of the variance of the logarithms, tested against the "
            "noise between the units that it changes with: blocks, whole plots or trials.",
            ("strata",),
        )
    if optima.fitted:
        yield Step(
            "Optimum",
            "The best load is the peak of the Universal Scalability Law fitted to each setting's trials, "
            "with an interval.",
            ("usl",),
        )


def _time(evidence: Evidence) -> Iterator[Step]:
    if any(trial.phases for trial in evidence.trials) and not evidence.experiment.imported:
        work = "The client" if evidence.experiment.work == "queries" else "fio"
        yield Step(
            "Where the time went",
            f"{work} timed what it sent; waits and CPU time come from the server's counters and /proc. Each "
            "part is on the trial's page with its calculation. The times of log flushes and page reads are "
            "not measured, so they are estimated or only counted; the rest is shown as not accounted for.",
            ("row-locks", "proc") if evidence.experiment.work == "queries" else ("proc",),
        )


SOURCES = {
    "fisher": "R. A. Fisher, The Design of Experiments, 1935",
    "duet": "L. Bulej et al., Duet Benchmarking: Improving Measurement Accuracy in the Cloud, ICPE 2020",
    "split-plot": "B. Jones and C. J. Nachtsheim, Split-Plot Designs: What, Why, and How, Journal of Quality "
    "Technology 41, 2009",
    "plackett-burman": "R. L. Plackett and J. P. Burman, The Design of Optimum Multifactorial Experiments, "
    "Biometrika 33, 1946",
    "fractions": "G. E. P. Box and J. S. Hunter, The 2^(k-p) Fractional Factorial Designs, Technometrics 3, "
    "1961",
    "pocock": "S. J. Pocock, Group Sequential Methods in the Design and Analysis of Clinical Trials, "
    "Biometrika 64, 1977",
    "repeated": "C. Jennison and B. W. Turnbull, Interim Analyses: The Repeated Confidence Interval "
    "Approach, JRSS B 51, 1989",
    "open-loop": "B. Schroeder, A. Wierman and M. Harchol-Balter, Open Versus Closed: A Cautionary Tale, "
    "NSDI 2006",
    "histogram": "G. Tene, HdrHistogram: A High Dynamic Range Histogram, 2012",
    "fio": "J. Axboe, fio manual, 2024",
    "mser": "K. P. White, An Effective Truncation Heuristic for Bias Reduction in Simulation Output, "
    "Simulation 69, 1997",
    "littles-law": "J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9, 1961",
    "bootstrap-t": "B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 12",
    "symmetric": "P. Hall, On Symmetric Bootstrap Confidence Intervals, JRSS B 50, 1988",
    "smoothed": "B. W. Silverman and G. A. Young, The Bootstrap: To Smooth or Not to Smooth?, Biometrika "
    "74, 1987",
    "welch": "B. L. Welch, The Generalization of Student's Problem, Biometrika 34, 1947",
    "holm": "S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of "
    "Statistics 6, 1979",
    "usl": "N. J. Gunther, Guerrilla Capacity Planning, 2007, chapters 4 to 6",
    "strata": "G. E. P. Box, J. S. Hunter and W. G. Hunter, Statistics for Experimenters, 2nd edition, 2005, "
    "chapter 9",
    "row-locks": "MySQL 8.4 Reference Manual, Server Status Variables, 2024",
    "proc": "Linux man-pages, proc(5), 2024",
}
"""Key -> how it is cited."""
