"""When the program started, so that a time limit covers all of it."""

import time

STARTED = time.monotonic()
