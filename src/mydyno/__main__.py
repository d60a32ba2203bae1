"""`python -m mydyno`, for an environment whose programs are not in PATH."""

from mydyno.cli.main import main

main()
