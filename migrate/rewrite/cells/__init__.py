"""Cells: what a Module's layers, buffers and containers become."""
