"""Identifiers as statements have them."""


def quote(*names: str) -> str:
    """An identifier in backticks, or several joined by dots: `` `shop`.`orders` ``.

    Source: MySQL Reference Manual, "Schema Object Names".
    """
    return ".".join("`" + name.replace("`", "``") + "`" for name in names)
