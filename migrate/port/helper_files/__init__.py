"""The helper module that a port may need: which pieces, and what earlier ports left there."""
