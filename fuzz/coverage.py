"""Files that reach new lines of the readers: ``python -m fuzz.coverage SECONDS``.

Atheris changes the samples bit by bit, and keeps what enters code that nothing entered before.
"""

from __future__ import annotations

import inspect
import os
import sys
import tempfile
from pathlib import Path

try:
    import atheris
except ImportError:
    print("coverage: atheris is not installed here, so this attack is left out")
    sys.exit(0)

from fuzz.files import outcome
from fuzz.samples import SAMPLES

# Larger files would only be slower.
_MOST_BYTES = 4096


def watch(package: str) -> None:
    """Have every function of a package tell which of its lines it enters."""
    modules = [m for name, m in sys.modules.items() if name.startswith(package)]
    for module in modules:
        for owner in (module, *filter(inspect.isclass, vars(module).values())):
            for function in filter(inspect.isfunction, vars(owner).values()):
                if function.__module__ == module.__name__:
                    atheris.instrument_func(function)


def main(seconds: str) -> None:
    """Search for so long; libFuzzer ends the program, with an exit code of its own if it failed."""
    folder = Path(tempfile.mkdtemp(prefix="metasage-fuzz-"))
    corpus, path = folder / "corpus", folder / "file"
    corpus.mkdir()
    for name, data in SAMPLES.items():
        (corpus / name.replace(" ", "-")).write_bytes(data)
    os.chdir(folder)  # where a file that fails is kept

    watch("metasage.io.")

    def test(data: bytes) -> None:
        path.write_bytes(data)
        outcome(path)

    options = [f"-max_total_time={seconds}", f"-max_len={_MOST_BYTES}", "-timeout=20"]
    atheris.Setup([sys.argv[0], *options, "-rss_limit_mb=2048", "-verbosity=1", str(corpus)], test)
    print(f"coverage: a file that fails is kept in {folder}", flush=True)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
