"""Exchanges of edges, beside the set of edges they ask for."""


def test_exchanges_are_told_apart_and_carried_out_as_the_edges_say(run_program):
    assert run_program("exchange_program.cpp") == "all exchanges are right\n"
