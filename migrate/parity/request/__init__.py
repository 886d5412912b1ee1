"""What a check is asked to do: models, inputs, loss, optimizer, limits."""
