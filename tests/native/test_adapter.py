"""The adapter's layer and its gradient, beside sums in double precision."""

INSTRUCTIONS = {
    "avx512": "-mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma",
    "avx2": "-mavx2 -mfma",
    "baseline": "",
}


def test_adapter_and_its_gradient_are_those_of_plain_sums(simd, run_program):
    printed = run_program("adapter_program.cpp", *INSTRUCTIONS[simd].split())
    assert printed == "all adapters are right\n"
