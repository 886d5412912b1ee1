"""An analysis that knows what the porter does with the program: both count the same way."""

from migrate.measured.measure import measure

__all__ = ["measure"]
