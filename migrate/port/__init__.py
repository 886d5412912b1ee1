"""Rewrite PyTorch source as MindSpore source."""
