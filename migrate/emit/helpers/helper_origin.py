"""Where helpers live: beside a port, in the installed package, or in the sources of both."""


def uses(name):
    """Whether the program uses a piece, names an attribute, a function or a module so, or has what
    a text of several words says. It is answered when a helper module is written, and what nobody
    needs is left out; all the pieces together say yes.
    """
    return True


def of_helpers(value):
    """Whether a class or function is a helper, wherever the helpers of this program come from."""
    home = value.__module__ or ""
    module = home.rpartition(".")[2]
    return module in ("ms_migrate_helpers", "ms_migrate_runtime") or home.startswith("migrate.emit")
