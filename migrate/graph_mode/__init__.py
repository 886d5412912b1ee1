"""Graph mode: Python that MindSpore does not compile, or compiles wrongly, lowered to what does."""
