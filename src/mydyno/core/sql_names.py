"""Identifiers as statements have them."""


def quote(*names: str) -> str:
    """An identifier in backticks, or several joined by dots: `` `shop`.`orders` ``.

    Source: MySQL Reference Manual, "Schema Object Names".
    """
    return ".".join("`" + name.replace("`", "``") + "`" for name in names)


SYSTEM_SCHEMAS = ("information_schema", "mysql", "performance_schema", "sys")
"""Those that belong to the server itself, in small letters."""
