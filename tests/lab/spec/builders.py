"""Small experiments for tests."""

from __future__ import annotations

from mydyno.lab.spec import Experiment, loads


def experiment(
    factors: str = "{}", config: str = "{}", size: str | None = None, **sections: str
) -> Experiment:
    """A small experiment; every argument is the YAML of its section, on one line."""
    return loads(document(factors, config, **sections), "experiment.yaml", size)


def document(factors: str = "{}", config: str = "{}", **sections: str) -> str:
    """The text of a small experiment that runs super-smack's select-key on 2 and 4 connections."""
    lines = {
        "experiment": "example",
        "setup": f"{{server: {{config: {config}}}}}",
        "factors": factors,
        "workload": workload(),
        **sections,
    }
    return "".join(f"{key}: {value}\n" for key, value in lines.items())


def workload(kind: str = "smack: {scenario: select-key, rows: 1000}", **keys: str) -> str:
    """The YAML of a workload section."""
    given = {"connections": "[2, 4]", "each": "{rounds: 5}", **keys}
    return f"{{{kind}, {', '.join(f'{key}: {value}' for key, value in given.items())}}}"
