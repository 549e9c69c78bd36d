"""Sets as .npz and as pickles, and archives that lie."""

import io
import pickle
import struct
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from metasage.errors import InputError
from metasage.io import read, read_instance, read_set, write_set
from metasage.io.unpickle import unpickle
from metasage.problems import all_problems
from metasage.problems.sets import generate


def archive(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **{name: np.asarray(array) for name, array in arrays.items()})
    return buffer.getvalue()


def raw_archive(header: str, content: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """Return an archive with one array whose header says anything at all."""
    length = struct.pack("<H" if version[0] == 1 else "<I", len(header))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("loc.npy", b"\x93NUMPY" + version + length + header.encode() + content)
    return buffer.getvalue()


def header(shape: str, descr: str = "'<f8'", order: str = "False") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


LOC = np.random.RandomState(0).uniform(size=(3, 5, 2))


@pytest.mark.parametrize("problem", all_problems())
def test_written_sets_are_read_again(tmp_path, problem):
    instances = generate(problem, size=6, count=3, seed=1)
    write_set(tmp_path / "set.npz", instances)
    again = read_set(tmp_path / "set.npz")
    assert again.problem.name == problem
    assert again.name == "set"
    for field, array in instances.arrays.items():
        assert again.arrays[field].dtype == array.dtype
        np.testing.assert_array_equal(again.arrays[field], array)
    with np.load(tmp_path / "set.npz") as arrays:
        assert set(arrays) == set(instances.arrays)


def test_writing_twice_gives_the_same_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        write_set(tmp_path / name, generate("cvrp", size=6, count=3, seed=1))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_one_instance_of_a_set(save):
    path = save(archive(loc=LOC), "s.npz")
    instance = read_instance(f"{path}#2")
    np.testing.assert_array_equal(instance.coords, LOC[2])
    assert instance.name == "s#2"
    assert instance.metric.name == "EXACT_2D"
    rounded = read_instance(f"{path}#2", rounding="up")
    assert set(rounded.length_matrix().ravel()) <= {0.0, 1.0, 2.0}


def test_only_npz_is_written(tmp_path):
    with pytest.raises(InputError, match=r"a set is written as \.npz alone"):
        write_set(tmp_path / "set.pkl", generate("tsp", size=6, count=3, seed=1))
    assert not list(tmp_path.iterdir())


def test_a_file_with_a_hash_in_its_name(save):
    path = save(archive(loc=LOC), "s.npz#1")
    assert len(read_set(path)) == 3


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("", "a set of 3 instances; one of them is s.npz#0 to #2"),
        ("#3", "instance #3 does not exist: the set has 3"),
        ("#-1", "'-1' is not the index"),
        ("#x", "'x' is not the index"),
        ("#" + "9" * 5000, "is not the index"),
    ],
)
def test_refused_indices(save, index, message):
    path = save(archive(loc=LOC), "s.npz")
    with pytest.raises(InputError) as caught:
        read_instance(f"{path}{index}")
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_an_index_into_a_single_instance(save):
    path = save("TYPE: TSP\nDIMENSION: 1\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n")
    with pytest.raises(InputError, match="this is not a set, so '#0' has no meaning"):
        read_instance(f"{path}#0")
    with pytest.raises(InputError, match="one instance, and a set of instances was expected"):
        read_set(path)


def test_rounding_of_a_whole_set(save):
    with pytest.raises(InputError, match="rounding of a whole set"):
        read(save(archive(loc=LOC)), rounding="up")


def test_other_arrays_are_left_alone(save):
    objects = np.array([{"a": 1}], dtype=object)
    instances = read_set(save(archive(loc=LOC, name=objects, note="text")))
    assert list(instances.arrays) == ["loc"]


def test_the_problem_overrides_the_fields(save):
    data = archive(**generate("cvrp", size=6, count=3, seed=1).arrays)
    instances = read_set(save(data), problem="tsp")
    assert instances.problem.name == "tsp"
    with pytest.raises(InputError, match="a set of op needs the array 'prize'"):
        read_set(save(data), problem="op")


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<f2", "<i4", ">i2", "u1"])
def test_number_types(save, dtype):
    loc = (LOC * 100).astype(dtype)
    array = read_set(save(archive(loc=loc))).arrays["loc"]
    assert array.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(array, loc)


def test_column_order(save):
    data = archive(loc=np.asfortranarray(LOC))
    assert b"'fortran_order': True" in data
    np.testing.assert_array_equal(read_set(save(data)).arrays["loc"], LOC)


BROKEN = {
    "half": (archive(loc=LOC)[:200], "not a complete .npz archive"),
    "start": (b"PK\x03\x04", "not a complete .npz archive"),
    "empty": (archive(), "no problem has just the arrays (none)"),
    "no loc": (archive(cost=[1.0]), "no problem has just the arrays cost"),
    "object": (raw_archive(header("(1, 5, 2)", "'|O'"), b"x" * 80), "does not hold plain numbers"),
    "record": (raw_archive(header("(1,)", "[('a', '<f8')]"), b"x" * 8), "plain numbers"),
    "strings": (archive(loc=np.full((1, 5, 2), "ab")), "does not hold plain numbers"),
    "f1": (raw_archive(header("(1, 5, 2)", "'<f1'"), b"x" * 10), "plain numbers"),
    "short": (raw_archive(header("(1, 5, 2)"), b"x" * 72), "has 72 bytes, and its shape"),
    "huge": (raw_archive(header("(9999999999, 100, 2)"), b"x" * 80), "needs 15999999998400"),
    "empty array": (raw_archive(header("(0, 5, 2)")), "'loc' is empty"),
    "shape": (raw_archive(header("(1, -5, 2)"), b"x" * 80), "a broken header"),
    "code": (raw_archive(header("(__import__('os'),)"), b"x" * 80), "a broken header"),
    "long header": (raw_archive(header("(1, 5, 2)") + " " * 60000), "not in numpy's format"),
    "longer header": (raw_archive(" " * 99999, b"", b"\x02\x00"), "not in numpy's format"),
    "many sides": (raw_archive(header("(" + "1, " * 99 + ")"), b"x" * 8), "complete"),
    "four sides": (archive(loc=LOC[None]), "loc has the shape (1, 3, 5, 2)"),
    "NaN": (archive(loc=np.where(LOC[1, 2, 0] == LOC, np.nan, LOC)), "loc of instance #1"),
    "inf": (archive(loc=LOC * np.inf), "loc of instance #0 holds the value inf"),
    "single array": (b"\x93NUMPY\x01\x00", "this is a single array"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_archives(save, case):
    data, message = BROKEN[case]
    path = save(data, "set.npz")
    with pytest.raises(InputError) as caught:
        read(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("demand", -1, "demand of instance #0 holds the value -1"),
        ("capacity", 0, "capacity of instance #0 holds the value 0"),
        ("capacity", 10**15, "capacity of instance #0"),
        ("demand", np.iinfo(np.int64).min, "demand of instance #0"),
    ],
)
def test_values_that_no_instance_may_have(save, field, value, message):
    arrays = generate("cvrp", size=6, count=3, seed=1).arrays
    wrong = np.full_like(arrays[field], value)
    with pytest.raises(InputError, match=message):
        read_set(save(archive(**{**arrays, field: wrong})))


def test_two_arrays_of_one_name(save):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("loc.npy", b"x")
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("loc.npy", b"y")
    with pytest.raises(InputError, match="the archive holds 'loc' twice"):
        read(save(buffer.getvalue()))


def test_a_bomb_is_refused_before_it_is_unpacked(save):
    content = bytes(200 * 2**20)
    path = save(raw_archive(header(f"({len(content) // 1600}, 100, 2)"), content))
    start = time.perf_counter()
    with pytest.raises(InputError, match=r"too much for a file of 0\.2 MB"):
        read(path)
    assert time.perf_counter() - start < 0.5


def test_an_archive_that_lies_about_its_size(save):
    # Both the archive and the header promise what is not there.
    data = raw_archive(header("(1, 2000000, 2)"), b"")
    length = len(header("(1, 2000000, 2)")) + 10
    promised = struct.pack("<I", 32_000_000 + length)
    data = data.replace(struct.pack("<I", length), promised)
    assert promised in data
    with pytest.raises(InputError, match=r"not a complete .npz archive"):
        read(save(data))


# -- pickles ------------------------------------------------------------------

POINTS = LOC.tolist()
DEPOTS = np.random.RandomState(1).uniform(size=(3, 2)).tolist()
DEMANDS = np.random.RandomState(2).randint(1, 10, size=(3, 5)).tolist()
PRIZES = (np.random.RandomState(3).randint(1, 101, size=(3, 5)) / 100).tolist()
PICKLES = {
    "tsp": POINTS,
    "cvrp": list(zip(DEPOTS, POINTS, DEMANDS, [50, 50, 50.0], strict=True)),
    "op": list(zip(DEPOTS, POINTS, PRIZES, [4.0] * 3, strict=True)),
    "pctsp": list(zip(DEPOTS, POINTS, PRIZES, PRIZES[::-1], PRIZES, strict=True)),
}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("problem", PICKLES)
def test_pickles(save, problem, protocol):
    instances = read_set(save(pickle.dumps(PICKLES[problem], protocol), "p.pkl"))
    assert instances.problem.name == problem
    np.testing.assert_array_equal(instances.arrays["loc"], LOC)
    expected = {
        "tsp": {},
        "cvrp": {"depot": DEPOTS, "demand": DEMANDS, "capacity": [50] * 3},
        "op": {"depot": DEPOTS, "prize": PRIZES, "max_length": [4] * 3},
        "pctsp": {"depot": DEPOTS, "penalty": PRIZES, "prize": PRIZES[::-1]},
    }[problem]
    for field, values in expected.items():
        np.testing.assert_array_equal(instances.arrays[field], values)
    assert instances[2].size == 5


def test_a_depot_in_a_list_of_its_own(save):
    nested = [([depot], *rest) for depot, *rest in PICKLES["cvrp"]]
    instances = read_set(save(pickle.dumps(nested)))
    np.testing.assert_array_equal(instances.arrays["depot"], DEPOTS)


def test_four_nodes_are_not_four_fields(save):
    instances = read_set(save(pickle.dumps(LOC[:, :4].tolist())))
    assert instances.problem.name == "tsp"
    assert instances.size == 4


def test_cvrp_or_op(save):
    ones = [(*row[:2], [1.0] * 5, 4.0) for row in PICKLES["op"]]
    path = save(pickle.dumps(ones))
    with pytest.raises(InputError, match="may hold cvrp or op"):
        read_set(path)
    assert read_set(path, problem="op").problem.name == "op"
    assert read_set(path, problem="cvrp").problem.name == "cvrp"
    with pytest.raises(InputError, match="are not those of pctsp"):
        read_set(path, problem="pctsp")


class Evil:
    def __reduce__(self):
        return (print, ("run",))


def laughs() -> list:
    inner: list = [0.5] * 10
    for _ in range(30):
        inner = [inner] * 10
    return inner


def loop() -> list:
    inner: list = []
    inner.append(inner)
    return inner


REFUSED = {
    "code": (pickle.dumps([Evil()], 2), "the opcode GLOBAL at byte"),
    "code 4": (pickle.dumps([Evil()], 4), "the opcode SHORT_BINUNICODE"),
    "array": (pickle.dumps(LOC, 2), "the opcode GLOBAL"),
    "dict": (pickle.dumps({"loc": POINTS}, 3), "the opcode EMPTY_DICT"),
    "string": (pickle.dumps(["a"], 2), "the opcode BINUNICODE"),
    "none": (pickle.dumps([None], 2), "the opcode NONE"),
    "bool": (pickle.dumps([True], 2), "the opcode NEWTRUE"),
    "long": (pickle.dumps([1 << 3000], 2), "the opcode LONG4"),
    "unknown": (b"\x80\x02\xff.", "the opcode 0xff at byte 2"),
    "protocol": (b"\x80\x09].", "the protocol 9, and not 2 to 5"),
    "half": (pickle.dumps(POINTS)[:100], "broken or not complete"),
    "no stop": (pickle.dumps(POINTS)[:-1], "broken or not complete"),
    "more": (pickle.dumps(POINTS) + b"x", "broken or not complete"),
    "memo": (b"\x80\x02h\x05.", "broken or not complete"),
    "stack": (b"\x80\x02e.", "broken or not complete"),
    "append to a number": (b"\x80\x02K\x01K\x02a.", "broken or not complete"),
    "tuple of nothing": (b"\x80\x02\x87.", "broken or not complete"),
    "laughs": (pickle.dumps(laughs(), 4), "more entries than bytes"),
    "loop": (pickle.dumps(loop(), 4), "more entries than bytes"),
    "number": (pickle.dumps(3, 2), "not a list of instances"),
    "empty": (pickle.dumps([], 2), "not a list of instances"),
    "numbers": (pickle.dumps([1, 2], 2), "not a list of instances"),
    "ragged": (pickle.dumps([*POINTS, POINTS[0][:2]], 2), "differ in the size of loc"),
    "huge": (pickle.dumps([[[1 << 300, 0]]], 2), "loc holds a number that is too large"),
    "deep": (b"\x80\x02" + b"]" * 500 + b"a" * 499 + b".", "differ in the size of loc"),
    "six": (pickle.dumps([(*row, 1, 2) for row in PICKLES["cvrp"]]), "are not those of tsp, cvrp"),
    "NaN": (pickle.dumps([[[float("nan"), 0.0]]]), "loc of instance #0 holds the value nan"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_pickles(save, case):
    data, message = REFUSED[case]
    path = save(data, "set.pkl")
    with pytest.raises(InputError) as caught:
        read(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_numbers_of_every_size():
    numbers = [0, 255, 256, 65535, 65536, -1, -(2**31), 2**31 - 1, 2**31, -(2**40), 1.5, -0.0]
    for protocol in (2, 3, 4, 5):
        assert unpickle(pickle.dumps((numbers, (), (1,), (1, 2)), protocol)) == (
            numbers,
            (),
            (1,),
            (1, 2),
        )


def test_shared_lists_are_shared():
    point = [1.0, 2.0]
    assert unpickle(pickle.dumps([point, point], 4)) == [point, point]


def test_reading_imports_neither_pickle_nor_torch(save):
    path = save(pickle.dumps(POINTS))
    # numpy itself imports pickle, so only its use by this package can be told.
    code = (
        "import sys, metasage.io as io\n"
        f"io.read({str(path)!r})\n"
        "users = [n for n, m in sys.modules.items() if n.startswith('metasage') "
        "and hasattr(m, 'pickle')]\n"
        "print(users, 'torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] False"


@pytest.mark.parametrize("protocol", [0, 1])
def test_pickles_of_old_protocols_are_named(tmp_path, protocol):
    path = tmp_path / "old.pkl"
    path.write_bytes(pickle.dumps([[[0.5, 0.5], [0.1, 0.2]]], protocol=protocol))
    with pytest.raises(InputError, match="protocol 0 or 1"):
        read(path)
