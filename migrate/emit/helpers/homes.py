"""Where helpers live: beside a port, in the installed package, or in the sources of both."""


def of_helpers(value):
    """Whether a class or function is a helper, wherever the helpers of this program come from."""
    home = value.__module__ or ""
    module = home.rpartition(".")[2]
    return module in ("ms_migrate_helpers", "ms_migrate_runtime") or home.startswith("migrate.emit")
