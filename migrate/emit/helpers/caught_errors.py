"""Errors of operators, for programs that catch them: raised where the operator is called."""

import mindspore


def _raised_at_once(*kinds):
    """The kinds, with operators that run one after the other from now on."""
    mindspore.runtime.launch_blocking()
    return kinds


# What MindSpore raises where torch raises RuntimeError.
tensor_errors = _raised_at_once(RuntimeError, ValueError, TypeError)
# ... and where torch raises IndexError.
index_errors = _raised_at_once(IndexError, RuntimeError)
any_error = _raised_at_once(Exception)
