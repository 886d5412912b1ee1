"""`ms-migrate doctor`: is this environment fit to run both frameworks, and if not, what to type."""

from migrate.doctor.command import configure, run

__all__ = ["configure", "run"]
