"""`mydyno gen-data`: lines of random data from a format string, as super-smack's gen-data makes them."""

from typing import Annotated

from mydyno.cli import screen
from mydyno.cli.declare import option


def gen_data(
    rows: Annotated[int, option("--rows -n", "Number of lines.", min=0)],
    form: Annotated[str, option("--format -f FORMAT", "The format of a line.")],
    seed: int = option("--seed", "Seed of the random numbers.", default=1),
    strict_compat: bool = option(
        "--strict-compat", "Imitate the defects of super-smack's gen-data.", default=False
    ),
) -> None:
    """Write random data to standard output, for LOAD DATA and dictionaries.

    In the format `%s` is random letters, `%n` the line's number, `%d` a random number of 31 bits and `%%` a
    percent; `%12s` is 12 letters, `%5-10s` 5 to 10, `%s` without a width 256. A warning on standard
    error says where super-smack would write other lines.

    ```text
    mydyno gen-data -n 90000 -f %12-12s%n,%25-25s,%n,%d > words.dat
    mydyno gen-data -n 10 -f %n,%8s --seed 7
    ```
    """
    from mydyno.lab.workload.smack import generate

    parsed = generate.parse_format(form)
    for trap in generate.traps_of(parsed):
        screen.echo(trap.message("gen-data", strict_compat), err=True)
    for line in generate.lines(parsed, rows, seed, strict_compat):
        screen.echo_data(line + "\n")
