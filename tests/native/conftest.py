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
