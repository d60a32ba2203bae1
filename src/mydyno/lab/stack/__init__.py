"""Builds the system under test layer by layer, and removes it without a trace.

From an experiment's values to a running server and back:

>>> def one_trial(lab: Path, trial_folder: Path, load: Callable[[RunningServer], Facts]) -> None:
...     host = LocalHost()
...     binary = inspect_binary(host, find_binary())
...     config = {"max_connections": 450, "innodb_buffer_pool_size": "256M"}
...     site = Site(lab, host, Journal(lab))
...     with Stack(site) as stack:
...         built = stack.move_to([
...             DatasetLayer(binary, config, contents={"workload": "smack", "rows": 90000}, prepare=load),
...             DataDirectoryLayer(trial="t001"),
...             ServerLayer(binary, config, folder=trial_folder),
...         ])
...         server = built.of(RunningServer)
...         differences = settings_difference(server.settings, server.variables())

`understand(binary, config).problems` lists, before anything is started, every setting that the binary does
not know, with the nearest names. `built.of(FrozenDataset).facts` is what `prepare` returned when the
dataset was made. `cleanup(lab)` undoes whatever a killed run left. Everything outside the lab is in the
journal before it is done; servers die with the process that started them.
"""

from mydyno.core.server_variables import Setting
from mydyno.lab.stack.datadir import DataDirectory, DataDirectoryLayer
from mydyno.lab.stack.dataset import DatasetLayer, Facts, FrozenDataset, Origin
from mydyno.lab.stack.journal import Journal, cleanup, outstanding_in
from mydyno.lab.stack.layer import BuiltLayers, Layer
from mydyno.lab.stack.server.external import ExternalFacts, look_at
from mydyno.lab.stack.server.sandbox import RunningServer, start_server
from mydyno.lab.stack.server.server import Server
from mydyno.lab.stack.server_layer import ExternalServerLayer, ServerLayer
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.stack import Stack
from mydyno.lab.stack.tables_layer import LoadedTables, TablesLayer
from mydyno.server.program.binary import ServerBinary, find_binary, inspect_binary
from mydyno.server.variables.names import SettingsError, understand
from mydyno.server.variables.settings import settings_difference

__all__ = [
    "BuiltLayers",
    "DataDirectory",
    "DataDirectoryLayer",
    "DatasetLayer",
    "ExternalFacts",
    "ExternalServerLayer",
    "Facts",
    "FrozenDataset",
    "Journal",
    "Layer",
    "LoadedTables",
    "Origin",
    "RunningServer",
    "Server",
    "ServerBinary",
    "ServerLayer",
    "Setting",
    "SettingsError",
    "Site",
    "Stack",
    "TablesLayer",
    "cleanup",
    "find_binary",
    "inspect_binary",
    "look_at",
    "outstanding_in",
    "settings_difference",
    "start_server",
    "understand",
]
