"""The terminal front end: parse, call, print."""
