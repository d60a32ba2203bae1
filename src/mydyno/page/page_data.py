"""What the page holds for its script: data as JSON, the script itself, and the policy that lets nothing
else run."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence

from markupsafe import Markup

Columns = Mapping[str, Sequence[float | int | str | None]]
"""One data set: column -> its values, all equally long. Smaller than rows."""

_ESCAPED = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}


def json_text(value: object) -> Markup:
    """`value` as JSON that can stand inside a `<script>`: it has no `<`, so that neither `</script>` nor
    `<!--` can end or swallow anything."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.translate(_ESCAPED))


def script_text(source: str) -> Markup:
    """A script of ours for an inline `<script>`, checked rather than escaped: JavaScript has no escape that
    is right in every place."""
    lowered = source.lower()
    for ends in ("</script", "<!--", "<script"):
        if ends in lowered:
            raise ValueError(f"a script with {ends!r} would break the page")
    return Markup(source)


def policy(scripts: Sequence[str]) -> str:
    """The page's Content-Security-Policy: these scripts, by their hash, styles of the page's own, no network
    at all. Vega's expressions are interpreted, so that none needs `unsafe-eval`."""
    allowed = " ".join(f"'sha256-{_digest(source)}'" for source in scripts)
    rest = "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; {rest}"


def _digest(source: str) -> str:
    return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
