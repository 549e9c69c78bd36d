"""The array tour and its journal, beside a plain list of nodes."""


def test_changes_and_taking_them_back_are_those_of_a_plain_list(run_program):
    assert run_program("tour_program.cpp") == "changed 300 tours\n"
