"""The old place of migrate.pipeline.context."""

from migrate.pipeline.context import Context, is_module_value, marker

__all__ = ["Context", "is_module_value", "marker"]
