"""Statements and the blocks around them, and the comments that they carry."""
