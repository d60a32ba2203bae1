"""Running `.smack` files of super-smack 1.3: tables, dictionaries and `main`, with the engine as the load."""

from mydyno.lab.load.smack.run import Result, complain, figures, run
from mydyno.lab.load.smack.settings import Emit, Overrides, Settings

__all__ = ["Emit", "Overrides", "Result", "Settings", "complain", "figures", "run"]
