import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Helpers beside the tests; import-mode=importlib does not find them by itself.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _single_torch_thread():
    """Keep torch from starting threads for the reference's tiny products."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(params=["avx512", "avx2", "baseline"])
def simd(request, monkeypatch):
    """Run with each instruction set that the machine has."""
    from metasage import _native

    monkeypatch.setenv("METASAGE_SIMD", request.param)
    if _native.simd() != request.param:
        pytest.skip(f"this machine lacks {request.param}")
    return request.param


@pytest.fixture
def run_program(tmp_path):
    """Compile a C++ program beside the tests, run it, and return what it prints.

    The sanitizers see to it that nothing is read or written where it should not be.
    """
    if shutil.which("c++") is None:
        pytest.skip("needs a C++ compiler")
    native = Path(__file__).parents[2] / "native"
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover"]
    always = ["-std=c++17", "-O1", "-fopenmp", "-ffp-contract=off", *sanitizers, f"-I{native}"]

    def run(name: str, *options: str) -> str:
        source, program = Path(__file__).with_name(name), tmp_path / "program"
        subprocess.run(["c++", *always, *options, str(source), "-o", str(program)], check=True)
        done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
