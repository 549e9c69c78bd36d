import json
import time

import pytest

import metasage
from metasage.baselines import all_baselines
from metasage.baselines.base import Baseline

RESULT_KEYS = {"solver", "objective", "gap", "seconds", "note", "routes", "curve"}
FILE_KEYS = {
    "file", "instance", "problem", "n", "sense", "reference", "reference_source", "results",
}  # fmt: skip
SIMPLE = ("--baseline", "nearest", "--baseline", "random-insertion")


class Liar(Baseline):
    name, problems, hint = "liar", ("cvrp",), "nobody wants it"

    def search(self, instance, track, seed):
        track.offer(metasage.Solution([[1, 1]]))


class Interrupted(Baseline):
    name, problems, hint = "interrupted", ("cvrp",), "press Ctrl-C"

    def search(self, instance, track, seed):
        raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def _loaded(monkeypatch):
    """Take the time to load torch, which is long on a busy machine, for nothing."""
    monkeypatch.setattr("metasage.comparison.contestants.seconds_to_load", lambda module: 0.0)


@pytest.fixture
def lonely(examples, tmp_path):
    """Return an instance without a solution beside it."""
    path = tmp_path / "lonely.vrp"
    path.write_text((examples / "square.vrp").read_text())
    return path


def test_the_json_tells_everything(metasage, network, examples, tmp_path):
    target, picture = tmp_path / "out.json", tmp_path / "curves.svg"
    code, out, err = metasage(
        "compare", examples / "square.vrp", "--time-limit", 1, "--model", network, "--method",
        "greedy", "--method", "sample", *SIMPLE, "--json", target, "--plot", picture,
    )  # fmt: skip
    assert (code, err) == (0, "")
    result = json.loads(target.read_text())
    assert (result["time_limit"], result["seed"], result["interrupted"]) == (1, 1234, False)
    (file,) = result["files"]
    assert set(file) == FILE_KEYS
    assert (file["problem"], file["n"], file["sense"]) == ("cvrp", 6, "min")
    assert file["reference_source"] == "square.sol"
    rows = file["results"]
    assert [row["solver"] for row in rows] == ["greedy", "sample", "nearest", "random-insertion"]
    for row in rows:
        assert set(row) == RESULT_KEYS
        assert sorted(node for route in row["routes"] for node in route) == [2, 3, 4, 5, 6, 7]
        assert row["gap"] == pytest.approx(row["objective"] / file["reference"] - 1)
        assert row["curve"][-1][1] == pytest.approx(row["objective"])
        assert row["seconds"] < 2
    wins = {row["solver"]: row["wins"] for row in result["summary"]}
    best = min(row["objective"] for row in rows)
    assert wins == {row["solver"]: int(row["objective"] == best) for row in rows}
    assert picture.read_text().count("<svg") == 1
    assert "gap to best known" in out
    assert "nearest" in out


def test_without_a_network_the_baselines_still_run(metasage, lonely, monkeypatch, tmp_path):
    monkeypatch.setattr("metasage.policies.library.WEIGHTS", tmp_path)
    code, out, _ = metasage("compare", lonely, "--time-limit", 1, *SIMPLE, "--json", "-")
    assert code == 0
    *own, local, nearest, insertion = json.loads(out)["files"][0]["results"]
    assert [row["solver"] for row in own] == ["sage", "sage+final", "sage+memetic"]
    for row in own:
        assert (row["objective"], row["gap"]) == (None, None)
        assert row["note"].startswith("no network for cvrp comes with the package")
    assert local["solver"] == "local-search"
    assert local["gap"] == 0.0
    assert min(nearest["gap"], insertion["gap"]) >= 0.0


def test_all_that_is_installed_takes_part(metasage, network, lonely, monkeypatch):
    installed = {
        name: all_baselines()[name] for name in ("concorde", "nearest", "random-insertion")
    }
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("metasage.comparison.contestants.all_baselines", lambda: installed)
    _, out, _ = metasage(
        "compare", lonely, "--time-limit", 1, "--method", "greedy", "--model", network,
        "--json", "-",
    )  # fmt: skip
    rows = json.loads(out)["files"][0]["results"]
    assert [row["solver"] for row in rows] == ["greedy", "nearest", "random-insertion"]


def test_several_files_are_summed_up(metasage, network, lonely, examples, tmp_path):
    tours = tmp_path / "tours.npz"
    metasage("generate", "tsp", "--size", 8, "--count", 2, "-o", tours)
    code, out, _ = metasage(
        "compare", lonely, f"{tours}#1", "--time-limit", 1, "--model", network, "--method",
        "greedy", "--baseline", "farthest-insertion", "--baseline", "nearest", "--best-known", 10,
        "--best-known", 2, "--json", "-",
    )  # fmt: skip
    assert code == 0
    result = json.loads(out)
    assert [file["reference"] for file in result["files"]] == [10, 2]
    summary = {row["solver"]: row for row in result["summary"]}
    gaps = [
        row["gap"] for file in result["files"] for row in file["results"]
        if row["solver"] == "nearest"
    ]  # fmt: skip
    assert summary["nearest"]["mean_gap"] == pytest.approx(sum(gaps) / 2)
    # The network is one of the CVRP, and says so on the tour.
    assert (summary["greedy"]["solved"], summary["nearest"]["solved"]) == (1, 2)
    code, out, _ = metasage(
        "compare", lonely, f"{tours}#1", "--time-limit", 1, "--model", network, "--method",
        "greedy", "--baseline", "nearest",
    )  # fmt: skip
    assert "gap to best here" in out
    assert "2 files" in out


def test_an_infeasible_answer_is_no_number(metasage, network, lonely, monkeypatch):
    monkeypatch.setattr("metasage.comparison.contestants.all_baselines", lambda: {"liar": Liar()})
    arguments = ("compare", lonely, "--time-limit", 1, "--method", "greedy", "--model", network)
    code, out, _ = metasage(*arguments, "--json", "-")
    assert code == 0
    liar = json.loads(out)["files"][0]["results"][1]
    assert (liar["objective"], liar["gap"], liar["routes"]) == (None, None, None)
    assert liar["note"] == "liar found no feasible solution: customer 2 visited twice."
    assert "failed" in metasage(*arguments)[1]


def test_an_interrupt_keeps_what_was_finished(metasage, network, lonely, monkeypatch):
    players = {"interrupted": Interrupted(), "nearest": all_baselines()["nearest"]}
    monkeypatch.setattr("metasage.comparison.contestants.all_baselines", lambda: players)
    code, out, _ = metasage(
        "compare", lonely, "--time-limit", 1, "--method", "greedy", "--model", network,
        "--json", "-",
    )  # fmt: skip
    assert code == 130
    result = json.loads(out)
    assert result["interrupted"]
    assert [row["solver"] for row in result["files"][0]["results"]] == ["greedy"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--time-limit", "0"], "the time limit is 0"),
        (["--time-limit", "1", "--method", "magic"], "method 'magic' is not one of"),
        (["--time-limit", "1", "--baseline", "magic"], "baseline 'magic' is not one of"),
        (["--time-limit", "1", "--baseline", "concorde"], "put the program concorde on the PATH"),
        (["--time-limit", "1", "--seed", "-1"], "the seed is -1"),
        (["--time-limit", "1", "--plot", "curves.txt"], "a picture is written as"),
        (["--time-limit", "1", "--json", "no/where.json"], "no/where.json"),
        (["--time-limit", "1", "--model", "magic"], "there is no model 'magic'"),
        (
            ["--time-limit", "1", "--best-known", "1", "--best-known", "2"],
            "2 best known values do not fit",
        ),
        ([], "--time-limit"),
    ],
)
def test_wrong_options_are_one_sentence(metasage, lonely, monkeypatch, options, sentence):
    monkeypatch.setenv("PATH", "/nowhere")
    code, _, err = metasage("compare", lonely, *options)
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("comment", ["Optimal value: 17", "best known value 17.0"])
def test_a_comment_tells_the_best_known_value(metasage, network, lonely, comment):
    lonely.write_text(f"COMMENT : (somebody, {comment})\n" + lonely.read_text())
    _, out, _ = metasage(
        "compare", lonely, "--time-limit", 1, "--method", "greedy", "--model", network,
        "--baseline", "nearest", "--json", "-",
    )  # fmt: skip
    file = json.loads(out)["files"][0]
    assert (file["reference"], file["reference_source"]) == (17, "its COMMENT")


def test_a_poorer_solution_of_the_users_own_is_not_the_best_known(lonely):
    from metasage.io import read_best_known, read_instance

    instance = read_instance(lonely)
    nodes = range(1, instance.num_nodes)
    metasage.io.write_solution(
        lonely.with_suffix(".sol"), instance, metasage.Solution([[node] for node in nodes]), 1.0
    )
    alone = read_best_known(lonely, instance)
    assert alone is not None
    assert alone[1] == "lonely.sol"
    text = lonely.read_text().replace("TYPE", "COMMENT : Optimal value: 450\nTYPE", 1)
    lonely.write_text(text)
    assert read_best_known(lonely, instance) == (450, "its COMMENT")


def test_public_instances_have_best_known_values(shared):
    from metasage.io import read_best_known, read_instance

    index = json.loads((shared / "data" / "index.json").read_text())
    for name in ("X-n101-k25", "eil51", "eil51-gen1-50"):
        path = shared / "data" / index[name]["file"]
        value, _ = read_best_known(path, read_instance(path))
        assert value == index[name]["best_known"]


def test_a_baseline_for_other_problems_is_refused(metasage, lonely):
    code, _, err = metasage("compare", lonely, "--time-limit", 1, "--baseline", "lkh")
    assert code == 2
    assert err in (
        "metasage: lkh does not solve cvrp.\n",
        f"metasage: lkh is not installed: {all_baselines()['lkh'].hint}.\n",
    )


def test_an_infeasible_file_is_named(metasage, lonely, tmp_path):
    heavy = tmp_path / "heavy.vrp"
    heavy.write_text(lonely.read_text().replace("CAPACITY : ", "CAPACITY : 0.000"))
    code, _, err = metasage("compare", lonely, heavy, "--time-limit", 1)
    assert code == 1
    assert err.startswith(f"metasage: {heavy}: customer ")


def test_the_time_to_load_torch_counts(metasage, lonely, network, monkeypatch):
    monkeypatch.setattr(
        "metasage.comparison.contestants.seconds_to_load",
        lambda module: 50.0 if "network" in module else 0.0,
    )
    _, out, _ = metasage(
        "compare", lonely, "--time-limit", 1, "--model", network, "--method", "sage+final",
        "--method", "local-search", "--baseline", "nearest", "--json", "-",
    )  # fmt: skip
    ours, control, _ = json.loads(out)["files"][0]["results"]
    assert (ours["note"], control["note"]) == ("no time for the network", "")


def test_the_time_to_load_torch_counts_once(monkeypatch, network):
    from metasage.comparison.contestants import OwnMethod
    from metasage.policies.library import find_model
    from metasage.solving.result import Result

    def slow(module):
        time.sleep(0.5)
        return 0.5

    monkeypatch.setattr("metasage.comparison.contestants.seconds_to_load", slow)
    charged = []
    real = Result.__init__
    monkeypatch.setattr(
        Result, "__init__", lambda self, *a, **k: charged.append(a[5]) or real(self, *a, **k)
    )
    instance = metasage.generate("cvrp", 8, 1, 1)[0]
    began = time.monotonic()
    OwnMethod("greedy", find_model(str(network), "cvrp")).solve(instance, 5.0, 1)
    assert 0.5 <= charged[0] <= time.monotonic() - began + 0.01
