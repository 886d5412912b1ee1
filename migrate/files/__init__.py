"""Write to disk so that nothing is lost: whole files or none, locks, and the in-place journal."""
