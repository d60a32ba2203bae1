"""`mydyno plan`: what an experiment would do."""

from mydyno.cli import options, screen
from mydyno.cli.labs import LabOptions


def plan(
    file: options.ExperimentFile,
    size: options.Size = None,
    lab: LabOptions = LabOptions(),
    hosts: options.Hosts = None,
    launcher: options.Launcher = None,
    partition: options.Partition = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what an experiment would do, and how long it would take. Changes nothing.

    Shows the points, the trials, their order, and every change outside the lab. The settings are checked with
    the server binary that would be run.

    ```text
    mydyno plan experiments/thread-cache.yaml
    mydyno plan experiments/thread-cache.yaml --size demo --json | jq .estimate
    ```
    """
    from mydyno.cli.planning import machines_of, prepare
    from mydyno.cli.shown import width
    from mydyno.lab.plan import render
    from mydyno.lab.trial.power import power_sentence
    from mydyno.machine.local import LocalHost
    from mydyno.page.lines import folded

    with machines_of(hosts, launcher, partition, session=False) as machines:
        _, prepared = prepare(file, size, lab, LocalHost(), machines=machines)
    if as_json:
        screen.echo_json_text(prepared.plan.model_dump_json(indent=2))
        return
    parts = [render(prepared.plan)]
    if (power := power_sentence(prepared.plan, lab.folder)) is not None:
        parts.append(power)
    for binary in sorted({f"{one.version} ({one.path})" for one in prepared.binaries.values()}):
        parts.append(f"server {binary}: accepts all settings of the experiment")
    for server in sorted({f"{one.version} at {one.login.address}" for one in prepared.externals.values()}):
        parts.append(f"external server {server}: accepts all settings of the experiment while it runs")
    for name in prepared.missing:
        parts.append(
            f"server {name} is not installed: `mydyno run` installs it and then checks its settings; "
            f"to check them now: mydyno servers add {name}"
        )
    screen.echo("\n".join(folded(part, width()) for part in parts), nl=False)
