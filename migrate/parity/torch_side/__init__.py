"""Torch's half of a step: the truth in float64, the noise in float32."""
