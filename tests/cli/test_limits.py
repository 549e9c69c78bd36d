"""Commands on CVRPs with limits, and on lengths that differ by direction."""

import json

import pytest

# Out and back 6, 10 and 8; 3-4-5 triangles everywhere.
SMALL = """\
NAME : small
TYPE : CVRP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 3 0
3 3 4
4 0 4
DEMAND_SECTION
1 0
2 4
3 3
4 5
DEPOT_SECTION
1
-1
EOF
"""


@pytest.fixture
def small(tmp_path):
    def write(head=""):
        path = tmp_path / "small.vrp"
        path.write_text(head + SMALL)
        return path

    return write


@pytest.fixture
def ring(tmp_path):
    """Return a file of eight nodes, 1 from one to the next and 9 all other ways."""
    lengths = [[1 if j == (i + 1) % 8 else 9 for j in range(8)] for i in range(8)]
    rows = "\n".join(" ".join(map(str, row)) for row in lengths)
    path = tmp_path / "ring.atsp"
    path.write_text(
        "NAME: ring\nTYPE: ATSP\nDIMENSION: 8\nEDGE_WEIGHT_TYPE: EXPLICIT\n"
        f"EDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n{rows}\nEOF\n"
    )
    return path


def solved(metasage, *arguments):
    code, out, err = metasage("solve", *arguments, "--json", "-")
    result = json.loads(out)
    return code, result, err


def test_limits_of_a_file_are_kept(metasage, small):
    # The best two routes are 1-3-4-1 and 1-2-1, of which the first is 12 long.
    code, result, _ = solved(metasage, small())
    assert (code, result["objective"], len(result["routes"])) == (0, 12 + 6, 2)
    code, result, _ = solved(metasage, small("DISTANCE : 12\nSERVICE_TIME : 1\n"))
    assert (code, result["objective"], len(result["routes"])) == (0, 6 + 10 + 8, 3)
    code, result, _ = solved(metasage, small("DISTANCE : 14\nSERVICE_TIME : 1\n"))
    assert (code, result["objective"], result["violation"]) == (0, 18, None)


@pytest.mark.parametrize("head", ["", "VEHICLES : 3\n"])
def test_vehicles_replace_those_of_the_file(metasage, small, head, tmp_path):
    limit = "DISTANCE : 12\nSERVICE_TIME : 1\n"
    solution = tmp_path / "a.sol"
    code, _, err = metasage("solve", small(head + limit), "--vehicles", 2, "-o", solution)
    assert code == 1
    assert "metasage: the solution is not feasible: " in err
    assert solution.exists()
    code, _, err = metasage("solve", small(head), "--vehicles", 1)
    assert (code, "at least 2 vehicles of capacity 10, and 1 is the most." in err) == (1, True)
    code, result, _ = solved(metasage, small("VEHICLES : 1\n"), "--vehicles", 2)
    assert (code, result["objective"]) == (0, 18)


def test_what_is_not_feasible_is_shown_and_written_and_exits_with_1(metasage, small, tmp_path):
    """The demands 6, 6 and 6 would fill two vehicles of 10, but no two are carried by one."""
    file, solution = small("VEHICLES : 2\n"), tmp_path / "a.sol"
    file.write_text(file.read_text().replace("2 4\n3 3\n4 5", "2 6\n3 6\n4 6"))
    for more in ([], ["--time-limit", 1]):
        solution.unlink(missing_ok=True)
        code, out, err = metasage(
            "solve", file, *more, "-o", solution, "--json", tmp_path / "a.json"
        )
        assert code == 1
        sentence = err.splitlines()[-1]
        assert sentence.startswith("metasage: the solution is not feasible: ")
        assert "objective" in out
        found = json.loads((tmp_path / "a.json").read_text())
        assert not found["feasible"]
        assert sentence.endswith(found["violation"])
        code, out, _ = metasage("check", file, solution)
        assert (code, out.splitlines()[0]) == (1, found["violation"])
    code, _, err = metasage("solve", file, "--quiet")
    assert (code, err.count("\n")) == (1, 1)


def test_what_is_not_feasible_still_visits_everybody(metasage, small):
    file = small("VEHICLES : 2\nDISTANCE : 12\nSERVICE_TIME : 1\n")
    code, result, _ = solved(metasage, file)
    assert code == 1
    assert sorted(node for route in result["routes"] for node in route) == [2, 3, 4]


def test_vehicles_are_checked(metasage, small, tmp_path):
    solution = tmp_path / "a.sol"
    solution.write_text("Route #1: 1 2\nRoute #2: 3\n")
    assert metasage("check", small(), solution)[0] == 0
    assert metasage("check", small("VEHICLES : 1\n"), solution, "--vehicles", 2)[0] == 0
    code, out, _ = metasage("check", small("VEHICLES : 2\n"), solution, "--vehicles", 1)
    assert (code, out) == (1, "there are 2 routes with customers and 1 vehicle.\n")


@pytest.mark.parametrize("command", ["solve", "check"])
def test_wrong_vehicles_are_one_sentence(metasage, small, ring, tmp_path, command):
    solution = tmp_path / "a.sol"
    solution.write_text("Route #1: 1 2\nRoute #2: 3\n")
    more = [solution] if command == "check" else []
    code, _, err = metasage(command, small(), *more, "--vehicles", 0)
    assert (code, err) == (2, "metasage: vehicles is 0 and must be a whole number from 1 on.\n")
    code, _, err = metasage(command, ring, *more, "--vehicles", 2)
    assert (code, err) == (2, "metasage: vehicles are counted in the cvrp, and this is tsp.\n")


def test_info_shows_the_limits(metasage, small, ring):
    file = small("VEHICLES : 3\nDISTANCE : 40.5\nSERVICE_TIME : 2\n")
    facts = json.loads(metasage("info", file, "--json", "-")[1])
    assert (facts["vehicles"], facts["maximum route length"]) == (3, 40.5)
    assert facts["total service time"] == 6
    assert (facts["method"], facts["infeasible"]) == ("local-search", None)
    out = metasage("info", small("DISTANCE : 9\n"))[1]
    assert "customer 3 takes a route of at least 10, and 9 is the most." in out
    facts = json.loads(metasage("info", ring, "--json", "-")[1])
    assert (facts["method"], facts["model"]) == ("local-search", None)


def test_a_directed_tour_is_found(metasage, ring, tmp_path):
    tour = tmp_path / "a.tour"
    code, out, err = metasage("solve", ring, "-o", tour)
    assert (code, err) == (0, "")
    assert "objective 8," in out
    assert metasage("check", ring, tour)[1] == "feasible, objective 8\n"


@pytest.mark.parametrize("option", [["--method", "sage"], ["--improve", "none"]])
def test_a_network_that_is_asked_for_is_refused(metasage, ring, option):
    code, _, err = metasage("solve", ring, *option)
    sentence = "metasage: lengths that differ by direction are beyond the networks.\n"
    assert (code, err) == (2, sentence)


@pytest.fixture
def square(examples, tmp_path):
    """Return a file with routes of two customers at most, for which three do not suffice."""
    file = tmp_path / "square.vrp"
    text = (examples / "square.vrp").read_text()
    file.write_text("DISTANCE : 160\nSERVICE_TIME : 5\nVEHICLES : 4\n" + text)
    return file


@pytest.mark.parametrize("more", [[], ["--time-limit", 2]])
def test_the_search_keeps_the_limits(metasage, square, more):
    # By all of its solutions, 512 is the best; it would be 450 without the limits.
    code, result, err = solved(metasage, square, *more)
    assert (code, result["objective"], result["violation"]) == (0, 512, None)
    assert len(result["routes"]) == 4
    assert (err, result["method"]) == ("", "local-search")


@pytest.mark.parametrize("more", [[], ["--time-limit", 2]])
def test_a_search_that_finds_nothing_feasible_says_so(metasage, square, tmp_path, more):
    solution = tmp_path / "a.sol"
    code, out, err = metasage("solve", square, "--vehicles", 3, "-o", solution, *more)
    assert code == 1
    assert err.splitlines()[-1].startswith("metasage: the solution is not feasible: ")
    assert "objective" in out
    assert metasage("check", square, solution, "--vehicles", 3)[0] == 1


def test_a_network_that_is_named_is_refused(metasage, square, network):
    code, _, err = metasage("solve", square, "--model", network)
    assert (code, err) == (2, "metasage: limits on vehicles or routes are beyond the networks.\n")


def test_compare_leaves_networks_out_where_they_are_not_asked_for(metasage, ring):
    common = ["compare", ring, "--time-limit", 1, "--baseline", "nearest"]
    code, out, _ = metasage(*common, "--json", "-")
    assert code == 0
    results = json.loads(out)["files"][0]["results"]
    assert [entry["solver"] for entry in results] == ["local-search", "nearest"]
    assert results[0]["objective"] == 8
    for asked in (["--method", "sage"], ["--method", "local-search", "--method", "sage+final"]):
        code, _, err = metasage(*common, *asked)
        reason = "lengths that differ by direction are beyond the networks."
        assert (code, err) == (2, f"metasage: {ring}: {reason}\n")


def test_compare_counts_no_solution_that_is_not_feasible(metasage, small):
    file = small("VEHICLES : 2\n")
    file.write_text(file.read_text().replace("2 4\n3 3\n4 5", "2 6\n3 6\n4 6"))
    code, out, _ = metasage(
        "compare", file, "--time-limit", 1, "--method", "local-search", "--baseline", "nearest",
        "--json", "-",
    )  # fmt: skip
    assert code == 0
    entry = json.loads(out)["files"][0]["results"][0]
    assert entry["objective"] is None
    assert entry["note"].startswith("local-search found no feasible solution: ")
