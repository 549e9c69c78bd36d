"""The nearest nodes, beside a look at all of them."""


def test_neighbours_are_those_of_brute_force(run_program):
    assert run_program("neighbours_program.cpp") == "all neighbours are right\n"
