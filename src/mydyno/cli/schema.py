"""`mydyno schema`: the experiment file's JSON Schema, for editors."""

from mydyno.cli import screen


def schema() -> None:
    """Print the JSON Schema of experiment files, for completion in editors.

    It has the server variables: their types, meanings and releases. Save it and name it in the first line of
    an experiment file, for editors with a YAML language server:

    ```text
    mydyno schema > experiment.schema.json
    # yaml-language-server: $schema=experiment.schema.json
    ```
    """
    from mydyno.lab import spec
    from mydyno.server.releases import KNOWN

    # In one line: a megabyte is not read by people, and indentation would double it.
    screen.echo_json(spec.json_schema(KNOWN))
