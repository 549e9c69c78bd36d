"""CVRPLIB: depots, demands, solutions and their numberings."""

import pytest

from metasage.errors import InputError
from metasage.io import read, read_instance, read_solution
from metasage.problems import check

from .small_files import SMALL

DEPOT_THREE = SMALL.replace("1 0\n2 5\n3 6", "1 6\n2 5\n3 0").replace(
    "SECTION\n1\n-1", "SECTION\n3\n-1"
)


def test_fields_of_an_instance(save):
    instance = read_instance(save(SMALL))
    assert instance.problem.name == "cvrp"
    assert instance.capacity == 10
    assert instance.demand.tolist() == [0, 5, 6, 4]
    assert instance.labels.tolist() == [1, 2, 3, 4]


def test_the_depot_comes_first_and_the_others_stay(save):
    instance = read_instance(save(DEPOT_THREE))
    assert instance.labels.tolist() == [3, 1, 2, 4]
    assert instance.demand.tolist() == [0, 6, 5, 4]
    assert instance.coords.tolist() == [[3, 4], [0, 0], [3, 0], [0, 4]]


def test_demands_in_another_order(save):
    text = SMALL.replace("1 0\n2 5\n3 6\n4 4\n", "4 4\n1 0\n3 6\n2 5\n")
    assert read_instance(save(text)).demand.tolist() == [0, 5, 6, 4]


@pytest.mark.parametrize("section", ["DEPOT_SECTION\n1\n", "DEPOT_SECTION 1 -1\n", ""])
def test_spellings_of_the_depot(save, section):
    text = SMALL.replace("DEPOT_SECTION\n1\n-1\n", section)
    assert read_instance(save(text)).labels[0] == 1


def test_matrix(save):
    rows = "EDGE_WEIGHT_FORMAT: LOWER_ROW\nEDGE_WEIGHT_SECTION\n12 13 23\n14 24 34\n"
    places = SMALL[SMALL.index("NODE_COORD") : SMALL.index("DEMAND")]
    text = DEPOT_THREE.replace(places, rows).replace("EUC_2D", "EXPLICIT")
    instance = read_instance(save(text))
    assert instance.labels.tolist() == [3, 1, 2, 4]
    assert instance.coords is None
    assert instance.length_matrix()[0].tolist() == [0, 13, 23, 34]
    assert instance.length_matrix()[1].tolist() == [13, 0, 12, 14]


REFUSED = {
    "no capacity": (SMALL.replace("CAPACITY : 10\n", ""), None, "CAPACITY is missing"),
    "capacity 0": (SMALL.replace("CAPACITY : 10", "CAPACITY : 0"), None, "must be positive"),
    "capacity nan": (SMALL.replace("CAPACITY : 10", "CAPACITY : nan"), 5, "CAPACITY is 'nan'"),
    "no demands": (
        SMALL.replace("DEMAND_SECTION\n1 0\n2 5\n3 6\n4 4\n", ""),
        None,
        "DEMAND_SECTION",
    ),
    "one demand less": (SMALL.replace("3 6\n", ""), 11, "DEMAND_SECTION lacks node 3"),
    "stray demand": (SMALL.replace("3 6", "9 6"), 14, "DEMAND_SECTION names node 9"),
    "demand twice": (SMALL.replace("3 6", "2 6"), 14, "node 2 stands in DEMAND_SECTION twice"),
    "negative": (SMALL.replace("3 6", "3 -6"), 14, "a demand is negative"),
    "two depots": (SMALL.replace("\n1\n-1", "\n1\n2\n-1"), 16, "names 2 depots"),
    "no depot": (SMALL.replace("\n1\n-1", "\n-1"), 16, "names 0 depots"),
    "strange depot": (SMALL.replace("\n1\n-1", "\n8\n-1"), 17, "the depot 8 is not a node"),
    "depot demand": (SMALL.replace("\n1\n-1", "\n3\n-1"), 14, "the depot 3 has the demand 6"),
    "after the depot": (SMALL.replace("\n-1\n", "\n-1\n5\n"), 19, "5 follows the -1"),
    "first node demands": (
        SMALL.replace("DEPOT_SECTION\n1\n-1\n", "").replace("1 0\n2 5", "1 1\n2 5"),
        None,
        "DEPOT_SECTION is missing, and the first node has a demand",
    ),
    "time windows": (
        SMALL.replace("EOF", "TIME_WINDOW_SECTION\nEOF"),
        19,
        "'TIME_WINDOW_SECTION' is not supported",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(save, case):
    text, line, message = REFUSED[case]
    with pytest.raises(InputError) as caught:
        read(save(text))
    assert message in str(caught.value)
    assert caught.value.line == line


SOLUTION = "Route #1: 1 3\nRoute #2: 2\nCost 24\n"
SOLUTIONS = {
    "plain": SOLUTION,
    "lower case": SOLUTION.lower(),
    "no blanks": SOLUTION.replace("Route #", "Route#").replace(": ", ":"),
    "no hash": SOLUTION.replace("#", ""),
    "blanks": SOLUTION.replace("#", " # ").replace(":", " :\t"),
    "colon": SOLUTION.replace("Cost", "Cost:"),
    "capitals": SOLUTION.upper(),
    "float": SOLUTION.replace("24", "24.0"),
    "remarks": "Name small\nComment: by hand: 3\n" + SOLUTION + "Time 3.5\n",
    "CRLF": SOLUTION.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("spelling", SOLUTIONS)
def test_solutions(save, spelling):
    instance = read_instance(save(SMALL))
    stated = read(save(SOLUTIONS[spelling], "s"))
    assert stated.objective == 24
    solution = stated.resolve(instance)
    assert solution.routes == ((1, 3), (2,))
    # 0-1-3-0: 3 + 5 + 4; 0-2-0: 5 + 5.
    assert check(instance, solution).objective == 22


def test_a_solution_may_have_no_cost_and_empty_routes(save):
    stated = read(save("Route #1: 1 2 3\nRoute #2:\n", "s"))
    assert stated.objective is None
    assert stated.routes == ((1, 2, 3), ())


def test_a_solution_may_have_no_routes(save):
    assert read(save("Cost 0\n", "s")).routes == ()


NUMBERINGS = {
    # Customers counted 1, 2, 3; the file's numbers 1, 2, 4; those less one 0, 1, 3.
    "counted": "Route #1: 1 3\nRoute #2: 2\n",
    "file's own": "Route #1: 1 4\nRoute #2: 2\n",
    "less one": "Route #1: 0 3\nRoute #2: 1\n",
}


@pytest.mark.parametrize("numbering", NUMBERINGS)
def test_the_three_numberings(save, numbering):
    instance = read_instance(save(DEPOT_THREE))
    solution = read_solution(save(NUMBERINGS[numbering], "s"), instance)
    assert solution.routes == ((1, 3), (2,))
    assert solution.labelled(instance) == [[1, 4], [2]]


def test_the_first_numbering_where_none_fits(save):
    instance = read_instance(save(DEPOT_THREE))
    solution = read_solution(save("Route #1: 1 3\n", "s"), instance)
    assert solution.routes == ((1, 3),)
    assert check(instance, solution).violation == "customer 2 not visited."


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (SOLUTION.replace("2\n", "7\n"), 2, "node 7 does not exist in small"),
        (SOLUTION.replace("1 3", "1 x"), 1, "'x' is not a customer's number"),
        (SOLUTION.replace("1 3", "1 -3"), 1, "'-3' is not a customer's number"),
        (SOLUTION.replace("1 3", "1 3.0"), 1, "'3.0' is not a customer's number"),
        (SOLUTION.replace("1 3", "1 " + "3" * 5000), 1, "is not a customer's number"),
        (SOLUTION.replace("Cost 24", "Cost nan"), 3, "'Cost nan' is not the one line of the cost"),
        (SOLUTION.replace("Cost 24", "Cost"), 3, "'Cost' is not the one line of the cost"),
        (SOLUTION + "Cost 25\n", 4, "is not the one line of the cost"),
        (SOLUTION + "The end\n", 4, "'The end' is neither"),
        (SOLUTION + "1 2 3\n", 4, "'1 2 3' is neither"),
    ],
)
def test_refused_solutions(save, text, line, message):
    instance = read_instance(save(SMALL))
    with pytest.raises(InputError) as caught:
        read_solution(save(text, "s"), instance)
    assert message in str(caught.value)
    assert caught.value.line == line


def test_the_wrong_kind_of_solution(save):
    instance = read_instance(save(SMALL))
    tour = save("TYPE: TOUR\nTOUR_SECTION\n1 2 3 4\n", "t")
    with pytest.raises(InputError, match="a solution of tsp, and the instance is one of cvrp"):
        read_solution(tour, instance)
    with pytest.raises(InputError, match="this is an instance, and a solution was expected"):
        read_solution(save(SMALL), instance)
    with pytest.raises(InputError, match="this is a solution, and an instance was expected"):
        read_instance(tour)
