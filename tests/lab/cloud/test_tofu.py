"""Text in a configuration stays text: by the rule, and as a real OpenTofu or Terraform evaluates it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.lab.cloud.tofu import Expression, Joined, literal, rendered

HOSTILE = (
    "${path.module}",
    "$${path.module}",
    "$$${path.module}",
    "%{ if true }x%{ endif }",
    "%%{ for x in [] }",
    "%$%{$${",
    "$",
    "$$",
    "%",
    'a "quoted" \\ value\nand a line \u2028 \x7f',
    "${",
    "#{x} `x` $(x) {{x}}",
)
TEXTS = st.text(st.sampled_from('${%}"\\\n ax')) | st.text()


def unescaped(text: str) -> str:
    """What a template without expressions stands for (the specification of HCL's templates)."""
    return re.sub(r"\$\$\{|%%\{", lambda match: match[0][1:], text)


def expressions(text: str) -> list[str]:
    """Where an expression or a directive begins: a `${` or `%{` that no second sign escapes."""
    return [match[0] for match in re.finditer(r"\$\$\{|%%\{|\$\{|%\{", text) if len(match[0]) == 2]


@given(TEXTS)
def test_a_text_is_never_an_expression_and_means_itself(text: str) -> None:
    written = json.loads(rendered({"value": text}))["value"]
    assert written == literal(text)
    assert expressions(written) == []
    assert unescaped(written) == text


@given(TEXTS, TEXTS)
def test_text_around_an_expression_leaves_it_one_expression(before: str, after: str) -> None:
    written = json.loads(rendered({"value": Joined((before, Expression("path.module"), after))}))["value"]
    parts = re.compile(r"""(?s)\$\$\{|%%\{|\$\{"(\$+)"\}|\$\{path\.module\}|.""")
    meanings = {"$${": "${", "%%{": "%{", "${path.module}": "<here>"}
    evaluated = (match[1] or meanings.get(match[0], match[0]) for match in parts.finditer(written))
    assert "".join(evaluated) == f"{before}<here>{after}"


@pytest.mark.skipif(
    not (shutil.which("tofu") or shutil.which("terraform")), reason="neither tofu nor terraform is installed"
)
def test_opentofu_evaluates_every_text_to_itself(tmp_path: Path) -> None:
    program = str(shutil.which("tofu") or shutil.which("terraform"))
    outputs = {f"plain_{number}": {"value": text} for number, text in enumerate(HOSTILE)}
    joined = {
        f"joined_{number}": {"value": Joined((text, Expression("1 + 1"), text))}
        for number, text in enumerate(HOSTILE)
    }
    (tmp_path / "main.tf.json").write_text(rendered({"output": {**outputs, **joined}}))
    environment = {"CHECKPOINT_DISABLE": "1", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}

    def ran(*words: str) -> str:
        done = subprocess.run(
            [program, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    ran("apply", "-auto-approve", "-no-color")
    values = {name: output["value"] for name, output in json.loads(ran("output", "-json")).items()}
    assert [values[f"plain_{number}"] for number in range(len(HOSTILE))] == list(HOSTILE)
    assert [values[f"joined_{number}"] for number in range(len(HOSTILE))] == [f"{x}2{x}" for x in HOSTILE]
