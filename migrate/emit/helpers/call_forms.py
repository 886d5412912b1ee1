"""Which form of an overloaded torch function a call means, where the function is held as a value.

It compiles: Graph mode has neither `inspect` nor `try`.
"""


def _is_one_of(value, kinds):
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def takes(args, options, positional, needs=(), named=(), types=()):
    """Whether a form with these parameters can be called with these arguments."""
    if len(args) > len(positional):
        return False
    given = positional[: len(args)]
    for name in needs:
        if name not in given and name not in options:
            return False
    for name in options:
        if name in given or (name not in positional and name not in named):
            return False
    for name in types:
        if name in given and not _is_one_of(args[positional.index(name)], types[name]):
            return False
        if name in options and not _is_one_of(options[name], types[name]):
            return False
    return True
