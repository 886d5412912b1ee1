"""Lowering: Python that Graph mode does not compile, or compiles to something else, in forms that
it compiles. One pass a limit, on the source and its types, before torch's names are rewritten.
"""
