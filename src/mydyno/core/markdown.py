"""Foreign text inside a Markdown document."""

import re

from mydyno.core.visible import visible, visible_line


def escaped(text: str) -> str:
    """`text` on one line, with nothing in it that Markdown or HTML would act on.

    Of an address the colon or the dot is escaped, since GitHub makes a link of `https://` and `www.` as well.
    """
    line = re.sub(r"([\\`*\[\]<>|#&~])", r"\\\1", visible_line(" ".join(text.split())))
    line = re.sub(r"(?i)(?<=[a-z])(:(?=//))|(?<=\bwww)(\.)", r"\\\1\2", line)
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", line)


def fenced(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{visible(text).rstrip()}\n{fence}"
