"""Calls: bound to torch's parameters, then written by their row and its rules."""
