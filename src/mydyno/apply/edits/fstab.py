"""Mount options at each boot: the options field of one line of /etc/fstab, and nothing else of it."""

from collections.abc import Sequence

from mydyno.apply.change import SetMountOptions
from mydyno.apply.edits.texts import RefusedError, Texts
from mydyno.survey.facts.fstab import parse_fstab, with_options

PATH = "/etc/fstab"


def set_mount_options(texts: Texts, change: SetMountOptions) -> None:
    """Raises RefusedError when no line of fstab, or more than one, makes that mount."""
    text = texts.get(PATH) or ""
    lines = [entry for entry in parse_fstab(text) if entry.mount_point == change.mount_point]
    if not lines:
        raise RefusedError(
            f"no line of {PATH} mounts {change.mount_point}",
            "it is mounted by a unit of systemd (`systemctl cat` shows its Options=) or by a program: change "
            "the options there",
        )
    if len(lines) > 1:
        places = ", ".join(str(entry.line) for entry in lines)
        raise RefusedError(f"{PATH} has several lines for {change.mount_point}: {places}", "keep one of them")
    (entry,) = lines
    try:
        new = with_options(text, entry.line, options_after(entry.options, change))
    except ValueError as error:
        raise RefusedError(f"{PATH}:{entry.line} has no options to change: {error}") from error
    # What was wrong with the line may be what the change fixes.
    (after,) = (each for each in parse_fstab(new) if each.line == entry.line)
    if after.fault is not None:
        raise RefusedError(f"{PATH}:{entry.line} is not a valid line: {after.fault}", "fix that line first")
    texts.put(PATH, new)


def options_after(options: Sequence[str], change: SetMountOptions) -> tuple[str, ...]:
    """The options in their order, without those that go, with those that are new at the end.

    An option that is given with a value takes the place of the same one with another value.
    """
    gone = {*change.remove, *(_name(option) for option in change.add if "=" in option)}
    kept = [each for each in options if each in change.add or not gone & {each, _name(each)}]
    return (*kept, *(option for option in change.add if option not in kept)) or ("defaults",)


def _name(option: str) -> str:
    return option.partition("=")[0]
