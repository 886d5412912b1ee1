"""Names: imports that come and go, references to what torch offers, tests of types."""
