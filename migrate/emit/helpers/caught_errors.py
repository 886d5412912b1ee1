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


def without_call_stack(error):
    """Leave the message that the program gave: a compiled function puts it in quotes and adds
    where in the compiler it was raised.
    """
    text, rule, _ = str(error).partition("\n\n" + "-" * 20)
    if rule:
        quoted = len(text) > 1 and text[0] == text[-1] == "'"
        error.args = (text[1:-1] if quoted else text,)
