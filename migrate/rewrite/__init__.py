"""Rewrite: table rows and rules as edits of the tree: calls, names, statements, tensors, cells."""
