"""A toolbox of classifiers that configurations put together."""

__version__ = "0.1"
