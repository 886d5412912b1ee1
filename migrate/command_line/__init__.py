"""The command line itself: parsers, configuration files, completion."""
