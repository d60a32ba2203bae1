"""What is known of server variables beyond what a server binary says: one table, read and applied.

`variables.toml` is the table: unit, layer, meaning, versions, renames, memory, durability and sources.
`catalogue()` reads it, `translate` brings settings that were written for one release to another.
"""

from mydyno.server.variables.catalogue import Catalogue, catalogue
from mydyno.server.variables.row import Row
from mydyno.server.variables.translate import Note, Remark, Translation, translate

__all__ = ["Catalogue", "Note", "Remark", "Row", "Translation", "catalogue", "translate"]
