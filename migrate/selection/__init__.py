"""Which files are looked at and which findings count: --exclude, --select, --ignore, comments
in the source, and a baseline of what is known already.

What is left out is never lost: it is counted, and the summary says so.
"""

from migrate.selection.choose import Chooser, add_options, chooser
from migrate.selection.exclude import without_excluded

__all__ = ["Chooser", "add_options", "chooser", "without_excluded"]
