"""Two records held side by side: what differs, where it began, what wrote it."""
