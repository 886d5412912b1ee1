"""Runs mapping rows against torch's own operator databases, through the real port path."""
