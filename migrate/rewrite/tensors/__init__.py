"""Tensors that are changed or kept: what a write means where another name may see it."""
