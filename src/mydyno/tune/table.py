"""What a search has found, as text of 80 columns and as Markdown. Pure."""

from collections.abc import Iterator

from mydyno.page.markup import markdown_table
from mydyno.tune import views
from mydyno.tune.confirm import ranking
from mydyno.tune.reduce import short
from mydyno.tune.result import Found, text_of
from mydyno.tune.scores import times


def headline(found: Found) -> str:
    """One sentence."""
    if found.reduced is not None:
        count = len(found.reduced.settings)
        settings = "1 setting" if count == 1 else f"{count} settings"
        return (
            f"{settings} of {found.name}: {found.reduced.gain.interval} {times(found.objectives[0])} in "
            f"{found.objectives[0]}, confirmed"
        )
    if found.confirmations:
        return f"Nothing that {found.name} has found holds on other data"
    best = next(iter(ranking(found.scores, found.objectives[0])), None)
    if best is None:
        return f"{found.name}: no trial was better than the start"
    objective = found.objectives[0]
    gain = f"{views.times_text(best, objective)} {times(objective)} in {objective}"
    return f"{found.name}: {best.candidate.title} measured best, {gain}; not confirmed"


def text(found: Found) -> Iterator[str]:
    yield ""
    yield headline(found)
    for each in found.confirmations:
        for one in each.against:
            yield f"  {each.candidate.title} over {one.name}: {one.interval}"
        if each.refused:
            yield f"  does not hold: {each.refused}"
        if each.recovery_seconds is not None:
            yield f"  answers {each.recovery_seconds:.1f} s after kill -9 under load"
    if found.reduced and found.reduced.of_all:
        yield f"  what is left over all settings: {found.reduced.of_all.interval}"
    for worth in found.reduced.worth if found.reduced else ():
        word = "stays" if worth.kept else "removed"
        yield f"  {short(worth.path)} = {text_of(worth.value)}: {worth.gain.interval}, {word}"


def markdown(found: Found) -> str:
    lines = [f"# {headline(found)}", "", f"{found.release}, {found.at}.", ""]
    lines += [f"- {each}" for each in found.constraints]
    lines += [f"- {found.order}"] if found.order else []
    for title, table in (
        ("Confirmation", views.confirmations_table(found)),
        ("What each setting is worth", views.worth_table(found)),
        ("Screening", views.screening_table(found)),
        ("Trials", views.trials_table(found)),
        ("Settings of the trials", views.settings_table(found)),
    ):
        if table.rows:
            lines += ["", f"## {title}", "", *markdown_table(table)]
    return "\n".join(lines) + "\n"
