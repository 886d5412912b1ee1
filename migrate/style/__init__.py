"""`port --style mindspore`: a plain training loop as mindspore.train.Model writes it.

The stage works on the source, before anything else is rewritten: it reads an epoch loop, over the
functions that the loop calls (`frames`), sorts its statements (`batch_loop`, `evaluation`,
`display`), and replaces the loop by calls of `mindspore.train` (`write`). What is left of the file
is ported as in the default style. A loop that does more is left to that style, with a finding that
names the statement.
"""
