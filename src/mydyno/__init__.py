"""mydyno: a dynamometer for MySQL and MariaDB."""

__version__: str


def __getattr__(name: str) -> str:
    """`__version__` as it was installed: that of the Cargo workspace. Looked up late: it takes a while."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("mydyno")
