"""Syntax: libcst nodes built, filled and paired with ast nodes; the spelling of imported names."""
