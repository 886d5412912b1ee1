"""Training steps in the tree: calls, blocks, gradients of inputs, and the statements of steps."""
