"""Tidy: remove what a rewrite leaves behind (unused names, dead variables), break long lines."""
