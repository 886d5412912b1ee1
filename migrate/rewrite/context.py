"""The old place of migrate.pipeline.context."""

from migrate.pipeline.context import Context, marker
from migrate.resolve.members import is_module_value

__all__ = ["Context", "is_module_value", "marker"]
