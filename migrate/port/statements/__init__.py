"""Statements and the blocks around them, the comments that they carry, forms that compile."""
