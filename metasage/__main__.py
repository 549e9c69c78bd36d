"""``python -m metasage`` is the command line."""

from metasage.cli.__main__ import main

if __name__ == "__main__":
    main()
