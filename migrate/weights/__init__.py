"""Checkpoints of one framework as checkpoints of the other, bit for bit."""
