"""The search of routes, built so that it verifies itself after every step."""


def test_routes_hold_in_the_middle_of_a_search(run_program):
    # Gains, sums, loads and limits of 60 instances: rounded or not, directed, with limits.
    assert run_program("routes_program.cpp") == "searched 60 instances\n"
