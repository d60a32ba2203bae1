"""`mydyno schema`: the experiment file's JSON Schema, for editors."""

from __future__ import annotations

import json

import typer


def schema() -> None:
    """Print the JSON Schema of experiment files, so that an editor completes and checks them.

    With the YAML extension of an editor, put this as the first line of an experiment file:

    ```text
    # yaml-language-server: $schema=experiment.schema.json
    ```

    after `mydyno schema > experiment.schema.json`.
    """
    from mydyno import spec

    typer.echo(json.dumps(spec.json_schema(), indent=2))


def add_to(app: typer.Typer) -> None:
    app.command()(schema)
