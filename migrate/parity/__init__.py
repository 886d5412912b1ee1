"""Run one training step in both frameworks and say where, if anywhere, they part."""
