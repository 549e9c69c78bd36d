"""The one `solve`: which parts work, how long, and what they found."""
