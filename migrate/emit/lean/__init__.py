"""A helper module cut down to what its port reaches: by name, by argument and by class.

`F.max_pool2d(x, 2)` is the only pooling of a port: then nothing asks for dilation, padding or
positions, and what `helpers.max_pool2d` has for them goes, with the pieces that only it needs. All
callers are known, since the module is written for them.
"""
