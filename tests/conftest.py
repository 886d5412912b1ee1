"""Fixtures for every test; filled below."""
