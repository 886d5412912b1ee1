"""MindSpore's half of a step, in PyNative and as a graph."""
