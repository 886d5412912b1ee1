"""Emit: which helper definitions a port needs, where their module goes, what earlier ports left."""
