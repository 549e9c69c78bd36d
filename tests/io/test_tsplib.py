"""TSPLIB: keys, metrics, matrices, tours, and what is refused."""

import math

import numpy as np
import pytest

from metasage.errors import InputError
from metasage.io import read, read_instance, read_solution

SQUARE = """\
NAME : square
COMMENT : four corners
COMMENT : and once more
TYPE : TSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 0
3 3 4
4 0 4
EOF
"""
LENGTHS = [[0, 3, 5, 4], [3, 0, 4, 5], [5, 4, 0, 3], [4, 5, 3, 0]]

# burma14's first places, as degrees and minutes.
PLACES = [(16.47, 96.10), (16.47, 94.44), (20.09, 92.54), (-22.39, 93.37)]


def explicit(layout: str, numbers: str, dimension: int = 4, more: str = "") -> str:
    return (
        f"NAME: m\nTYPE: TSP\nDIMENSION: {dimension}\nEDGE_WEIGHT_TYPE: EXPLICIT\n"
        f"EDGE_WEIGHT_FORMAT: {layout}\nEDGE_WEIGHT_SECTION\n{numbers}\n{more}EOF\n"
    )


def places_file(metric: str) -> str:
    rows = "\n".join(f"{i} {x} {y}" for i, (x, y) in enumerate(PLACES, start=1))
    return (
        f"NAME: p\nTYPE: TSP\nDIMENSION: {len(PLACES)}\nEDGE_WEIGHT_TYPE: {metric}\n"
        f"NODE_COORD_SECTION\n{rows}\nEOF\n"
    )


def geographical(a: tuple[float, float], b: tuple[float, float]) -> int:
    """TSPLIB's own formula, written from its documentation in plain arithmetic."""

    def radians(value: float) -> float:
        degrees = math.trunc(value)
        return 3.141592 * (degrees + 5.0 * (value - degrees) / 3.0) / 180.0

    latitude, longitude = [radians(a[0]), radians(b[0])], [radians(a[1]), radians(b[1])]
    q1 = math.cos(longitude[0] - longitude[1])
    q2 = math.cos(latitude[0] - latitude[1])
    q3 = math.cos(latitude[0] + latitude[1])
    return int(6378.388 * math.acos(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)) + 1.0)


def attraction(a: tuple[float, float], b: tuple[float, float]) -> int:
    exact = math.sqrt(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) / 10.0)
    rounded = int(exact + 0.5)
    return rounded + 1 if rounded < exact else rounded


EXPECTED = {
    "EUC_2D": lambda a, b: int(math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) + 0.5),
    "CEIL_2D": lambda a, b: math.ceil(math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)),
    "FLOOR_2D": lambda a, b: math.floor(math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)),
    "EXACT_2D": lambda a, b: math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2),
    "MAN_2D": lambda a, b: int(abs(a[0] - b[0]) + abs(a[1] - b[1]) + 0.5),
    "MAX_2D": lambda a, b: int(max(abs(a[0] - b[0]), abs(a[1] - b[1])) + 0.5),
    "ATT": attraction,
    "GEO": geographical,
}


@pytest.mark.parametrize("metric", EXPECTED)
def test_every_metric(save, metric):
    matrix = read_instance(save(places_file(metric))).length_matrix()
    for i, a in enumerate(PLACES):
        for j, b in enumerate(PLACES):
            if i != j:
                assert matrix[i, j] == EXPECTED[metric](a, b)


def test_known_distance_of_burma14(save):
    # The public matrix of burma14 starts with 153 and 510.
    matrix = read_instance(save(places_file("GEO"))).length_matrix()
    assert matrix[0, 1] == 153
    assert matrix[0, 2] == 510


def test_fields_of_an_instance(save):
    instance = read_instance(save(SQUARE))
    assert instance.name == "square"
    assert instance.labels.tolist() == [1, 2, 3, 4]
    assert instance.coords.tolist() == [[0, 0], [3, 0], [3, 4], [0, 4]]
    assert instance.metric.name == "EUC_2D"
    assert instance.length_matrix().tolist() == LENGTHS


SPELLINGS = {
    "no blanks": SQUARE.replace(" : ", ":"),
    "tabs": SQUARE.replace(" ", "\t"),
    "CRLF": SQUARE.replace("\n", "\r\n"),
    "CR": SQUARE.replace("\n", "\r"),
    "no EOF": SQUARE.replace("EOF\n", ""),
    "no line end": SQUARE.removesuffix("\nEOF\n"),
    "blank lines": SQUARE.replace("\n", "\n\n  \n"),
    "text after EOF": SQUARE + "what a file\n1 2 3\n",
    "lower case": SQUARE.lower(),
    "scientific": SQUARE.replace("3 3 4", "3 +3.0e+00 4E0"),
    "byte order mark": "\ufeff" + SQUARE,
    "no colon": SQUARE.replace("DIMENSION :", "DIMENSION"),
    "remark in TYPE": SQUARE.replace("TYPE : TSP", "TYPE : TSP (Hofmeister)"),
    "unknown key": "BEST_KNOWN : 14\n" + SQUARE,
    "keys after sections": (
        "NODE_COORD_SECTION\n1 0 0\n2 3 0\n3 3 4\n4 0 4\n"
        "EDGE_WEIGHT_TYPE: EUC_2D\nDIMENSION: 4\nTYPE: TSP\nNAME: square\n"
    ),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings(save, spelling):
    instance = read_instance(save(SPELLINGS[spelling]))
    assert instance.length_matrix().tolist() == LENGTHS
    assert instance.name == "square"


def test_a_file_without_a_name_is_called_after_the_file(save):
    assert read_instance(save(SQUARE.replace("NAME : square\n", ""), "a.b.tsp")).name == "a.b"


def test_own_node_numbers_and_order(save):
    text = SQUARE.replace("\n1 0 0\n2 3 0", "\n20 3 0\n10 0 0")
    instance = read_instance(save(text))
    assert instance.labels.tolist() == [20, 10, 3, 4]
    assert instance.coords.tolist() == [[3, 0], [0, 0], [3, 4], [0, 4]]


# The length between i and j is 10 i + j for i < j, so that all layouts differ;
# each is written down by hand from TSPLIB's definitions.
MATRIX = [[0, 12, 13, 14], [12, 0, 23, 24], [13, 23, 0, 34], [14, 24, 34, 0]]
LAYOUTS = {
    "FULL_MATRIX": "0 12 13 14 12 0 23 24 13 23 0 34 14 24 34 0",
    "UPPER_ROW": "12 13 14 23 24 34",
    "LOWER_ROW": "12 13 23 14 24 34",
    "UPPER_DIAG_ROW": "0 12 13 14 0 23 24 0 34 0",
    "LOWER_DIAG_ROW": "0 12 0 13 23 0 14 24 34 0",
    "UPPER_COL": "12 13 23 14 24 34",
    "LOWER_COL": "12 13 14 23 24 34",
    "UPPER_DIAG_COL": "0 12 0 13 23 0 14 24 34 0",
    "LOWER_DIAG_COL": "0 12 13 14 0 23 24 0 34 0",
}


@pytest.mark.parametrize("separator", [" ", "\n", " \n\t"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_matrix_layout(save, layout, separator):
    text = explicit(layout, LAYOUTS[layout].replace(" ", separator))
    instance = read_instance(save(text))
    assert instance.length_matrix().tolist() == MATRIX
    assert instance.metric.name == "EXPLICIT"
    assert instance.coords is None
    assert instance.labels.tolist() == [1, 2, 3, 4]


def test_diagonal_of_a_matrix_is_nothing(save):
    text = explicit("UPPER_DIAG_ROW", "9999 12 13 14 -1 23 24 9999 34 9999")
    assert read_instance(save(text)).length_matrix().tolist() == MATRIX


def test_display_data_are_the_places_of_a_matrix(save):
    places = "DISPLAY_DATA_SECTION\n2 3 0\n1 0 0\n3 3 4\n4 0 4\n"
    instance = read_instance(save(explicit("UPPER_ROW", LAYOUTS["UPPER_ROW"], more=places)))
    assert instance.coords.tolist() == [[0, 0], [3, 0], [3, 4], [0, 4]]
    assert instance.length_matrix().tolist() == MATRIX


def test_matrix_of_nodes_counted_from_0(save):
    places = "NODE_COORD_SECTION\n0 0 0\n1 3 0\n2 3 4\n3 0 4\n"
    instance = read_instance(save(explicit("UPPER_ROW", LAYOUTS["UPPER_ROW"], more=places)))
    assert instance.labels.tolist() == [0, 1, 2, 3]


def test_rounding_can_be_overridden(save):
    path = save(SQUARE.replace("3 3 4", "3 3 4.4"))
    assert read_instance(path).length_matrix()[1, 2] == 4
    assert read_instance(path, rounding="up").length_matrix()[1, 2] == 5
    assert read_instance(path, rounding="none").length_matrix()[1, 2] == pytest.approx(4.4)
    with pytest.raises(InputError, match="'half' is not one of"):
        read_instance(path, rounding="half")
    with pytest.raises(InputError, match=r"file.txt: the lengths of GEO are fixed"):
        read_instance(save(places_file("GEO")), rounding="up")


REFUSED = {
    "HCP": (SQUARE.replace("TYPE : TSP", "TYPE : HCP"), 4, "TYPE 'HCP'"),
    "SOP": (SQUARE.replace("TYPE : TSP", "TYPE : SOP"), 4, "TYPE 'SOP'"),
    "no TYPE": (SQUARE.replace("TYPE : TSP\n", ""), None, "TYPE is missing"),
    "fixed edges": (
        SQUARE.replace("EOF", "FIXED_EDGES_SECTION\n1 2\n-1\nEOF"),
        12,
        "'FIXED_EDGES_SECTION' is not supported",
    ),
    "3-D": (SQUARE.replace("2 3 0", "2 3 0 7"), 9, "three-dimensional"),
    "3-D key": (SQUARE + "", None, None),
    "metric": (SQUARE.replace("EUC_2D", "XRAY1"), 6, "EDGE_WEIGHT_TYPE 'XRAY1' is not supported"),
    "no metric": (SQUARE.replace("EDGE_WEIGHT_TYPE : EUC_2D\n", ""), None, "EDGE_WEIGHT_TYPE is"),
    "no DIMENSION": (SQUARE.replace("DIMENSION : 4\n", ""), None, "DIMENSION is missing"),
    "DIMENSION 0": (SQUARE.replace("DIMENSION : 4", "DIMENSION : 0"), 5, "a positive integer"),
    "DIMENSION 4.5": (SQUARE.replace("DIMENSION : 4", "DIMENSION : 4.5"), 5, "a positive integer"),
    "DIMENSION x": (SQUARE.replace("DIMENSION : 4", "DIMENSION : x"), 5, "DIMENSION is 'x'"),
    "DIMENSION huge": (
        SQUARE.replace("DIMENSION : 4", "DIMENSION : 999999999"),
        7,
        "has 4 nodes, and DIMENSION says 999999999",
    ),
    "DIMENSION twice": (
        SQUARE.replace("EOF", "DIMENSION : 5\nEOF"),
        12,
        "DIMENSION has another value on line 5",
    ),
    "too few": (SQUARE.replace("4 0 4\n", ""), 7, "has 3 nodes, and DIMENSION says 4"),
    "too many": (SQUARE.replace("EOF", "5 0 0\nEOF"), 7, "has 5 nodes"),
    "no section": (SQUARE.split("NODE_COORD")[0], None, "NODE_COORD_SECTION is missing"),
    "section twice": (
        SQUARE.replace("EOF", "NODE_COORD_SECTION\nEOF"),
        12,
        "NODE_COORD_SECTION comes twice",
    ),
    "duplicate": (
        SQUARE.replace("4 0 4", "2 0 4"),
        11,
        "node 2 stands in NODE_COORD_SECTION twice",
    ),
    "node 1.5": (SQUARE.replace("2 3 0", "1.5 3 0"), 9, "1.5 in NODE_COORD_SECTION is not a node"),
    "node -3": (SQUARE.replace("2 3 0", "-3 3 0"), 9, "-3 in NODE_COORD_SECTION is not a node"),
    "NaN": (SQUARE.replace("2 3 0", "2 nan 0"), 9, "'nan' in NODE_COORD_SECTION is not a finite"),
    "inf": (SQUARE.replace("2 3 0", "2 3 -inf"), 9, "'-inf'"),
    "overflow": (SQUARE.replace("2 3 0", "2 3 1e999"), 9, "'1e999'"),
    "underscore": (SQUARE.replace("2 3 0", "2 3 1_0"), 9, "'1_0'"),
    "other digits": (SQUARE.replace("2 3 0", "2 3 \u0663"), 9, "is not a finite number"),
    "word": (SQUARE.replace("2 3 0", "2 3 zero"), 9, "'zero'"),
    "short line": (SQUARE.replace("2 3 0", "2 3"), 9, "has 2 numbers here, and 3 were expected"),
    "garbage": (SQUARE.replace("EOF", "garbage\nEOF"), 12, "'garbage' is neither a keyword"),
    "no section yet": ("1 2 3\n" + SQUARE, 1, "'1 2 3' stands outside a section"),
    "beyond": (SQUARE.replace("2 3 0", "2 3e13 0"), None, "coords holds a value beyond 1e+12"),
    "layout": (explicit("SPIRAL", "1", 2), 5, "EDGE_WEIGHT_FORMAT 'SPIRAL' is not one of"),
    "negative length": (explicit("UPPER_ROW", "-5", 2), None, "matrix holds a negative value"),
    "matrix count": (explicit("UPPER_ROW", "1 2", 3), 6, "has 2 numbers, and UPPER_ROW of 3 nodes"),
    "matrix huge": (explicit("FULL_MATRIX", "1 2", 10**9), 6, "needs 1000000000000000000"),
    "gaps in a matrix": (
        explicit("UPPER_ROW", "1 2 3", 3, "NODE_COORD_SECTION\n1 0 0\n2 0 0\n4 0 0\n"),
        8,
        "are not numbered on end",
    ),
    "salesmen": ("SALESMEN : 2\n" + SQUARE, 1, "more than one salesman"),
}
REFUSED["3-D key"] = ("NODE_COORD_TYPE : THREED_COORDS\n" + SQUARE, 1, "three-dimensional")


@pytest.mark.parametrize("case", REFUSED)
def test_refused(save, case):
    text, line, message = REFUSED[case]
    path = save(text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert message in caught.value.message
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert caught.value.message.endswith(".")


def test_problem_that_the_file_does_not_name(save):
    path = save(SQUARE.replace("TYPE : TSP\n", ""))
    assert read_instance(path, problem="tsp").size == 4
    with pytest.raises(InputError, match="CAPACITY is missing"):
        read(path, problem="cvrp")
    with pytest.raises(InputError, match="pctsp has no such file format"):
        read(path, problem="pctsp")
    with pytest.raises(InputError, match="'vrp' is not one of"):
        read(path, problem="vrp")


def test_problem_that_the_file_contradicts(save):
    with pytest.raises(InputError, match="an instance of tsp, and cvrp was asked for"):
        read(save(SQUARE), problem="cvrp")


TOUR = "NAME : t\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n1\n3\n2\n4\n-1\nEOF\n"
TOURS = {
    "plain": TOUR,
    "no dimension": TOUR.replace("DIMENSION : 4\n", ""),
    "no -1": TOUR.replace("-1\n", ""),
    "one line": TOUR.replace("1\n3\n2\n4\n-1", "1 3 2 4 -1"),
    "no type": TOUR.replace("TYPE : TOUR\n", ""),
    "second -1": TOUR.replace("-1\n", "-1\n-1\n"),
    "no EOF": TOUR.replace("EOF\n", ""),
}


@pytest.mark.parametrize("spelling", TOURS)
def test_tours(save, spelling):
    instance = read_instance(save(SQUARE, "square.tsp"))
    solution = read_solution(save(TOURS[spelling], "square.tour"), instance)
    assert solution.routes == ((0, 2, 1, 3),)
    assert instance.problem.check(instance, solution).objective == 5 + 4 + 5 + 4


def test_a_tour_has_the_numbers_of_the_instance(save):
    text = SQUARE.replace("\n1 0 0\n2 3 0\n3 3 4\n4 0 4", "\n7 0 0\n5 3 0\n3 3 4\n1 0 4")
    instance = read_instance(save(text, "square.tsp"))
    tour = save("TYPE: TOUR\nTOUR_SECTION\n1 3 5 7 -1\n", "t")
    assert read_solution(tour, instance).routes == ((3, 2, 1, 0),)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (TOUR.replace("\n2\n", "\n9\n"), 7, "node 9 does not exist in square"),
        (TOUR.replace("\n2\n", "\n0\n"), 7, "node 0 does not exist in square"),
        (TOUR.replace("\n2\n", "\n2.5\n"), 7, "2.5 in TOUR_SECTION is not a node number"),
        (TOUR.replace("\n2\n", "\ntwo\n"), 7, "'two' is neither a keyword nor a number"),
        (TOUR.replace("\n2\n", "\n"), 4, "has 3 nodes, and DIMENSION says 4"),
        (TOUR.replace("-1\n", "-1\n2\n"), 10, "2 follows the -1"),
        (TOUR.replace("TOUR_SECTION", "COMMENT"), 5, "stands outside a section"),
    ],
)
def test_refused_tours(save, text, line, message):
    instance = read_instance(save(SQUARE, "square.tsp"))
    with pytest.raises(InputError) as caught:
        read_solution(save(text, "square.tour"), instance)
    assert message in str(caught.value)
    assert caught.value.line == line


def test_a_tour_that_misses_a_node_is_read_and_fails_the_check(save):
    instance = read_instance(save(SQUARE, "square.tsp"))
    solution = read_solution(save("TYPE: TOUR\nTOUR_SECTION\n1 2 3\n", "t"), instance)
    assert instance.problem.check(instance, solution).violation == "node 4 not visited."


def test_matrix_of_one_node(save):
    instance = read_instance(save(explicit("UPPER_ROW", "", 1)))
    assert np.array_equal(instance.length_matrix(), [[0.0]])


def test_matrix_on_one_very_long_line(save):
    size = 800
    text = explicit("FULL_MATRIX", " ".join(["0"] * size**2), size)
    assert max(map(len, text.splitlines())) > 10**6
    assert read_instance(save(text)).size == size
    with pytest.raises(InputError, match="'x' in EDGE_WEIGHT_SECTION"):
        read(save(text.replace(" 0\n", " x\n")))
