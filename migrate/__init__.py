"""Move PyTorch training code to MindSpore, and prove that it still computes the same."""

__version__ = "0.1.0"
