"""Ways in which files are damaged."""

from __future__ import annotations

from random import Random

NUMBERS = "nan inf 1e999 -1 0 1 2 4 7 1.5 -0 +3 1e3 1e13 999999999 99999999999999999999 0x10 1_0"
NAMES = (
    "abc NaN Infinity null true [] {} [[]] \u0663 \u00e4 : # - . EOF TSP ATSP CVRP OP TOUR GEO ATT "
    "EXPLICIT UPPER_ROW FULL_MATRIX DIMENSION DIMENSION:999999999 CAPACITY:0 TYPE: DEPOT_SECTION "
    "TOUR_SECTION NODE_COORD_SECTION DEMAND_SECTION EDGE_WEIGHT_SECTION FIXED_EDGES_SECTION "
    "NODE_SEQUENCE_SECTION Route Cost problem"
)
WORDS = [*NUMBERS.split(), *NAMES.split()]
SEPARATORS = (
    b"\n",
    b"\r\n",
    b"\r",
    b"\t",
    b" ",
    b"\0",
    b"\x0b",
    b"\x85",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
)


def mutate(data: bytes, random: Random) -> bytes:
    """Damage a file in one of the ways in which files are damaged."""
    lines = data.split(b"\n")
    line = random.randrange(len(lines))
    place, other = sorted(random.randrange(len(data) + 1) for _ in range(2))
    words = lines[line].split(b" ")
    word = random.choice(WORDS).encode()
    match random.randrange(12):
        case 0:
            return data[:place]
        case 1:
            return data[:place] + random.randbytes(random.randint(1, 8)) + data[place:]
        case 2:
            return data[:place] + data[min(other, place + random.randint(1, 20)) :]
        case 3:
            return b"\n".join(lines[:line] + lines[line + 1 :])
        case 4:
            return b"\n".join([*lines[: line + 1], *lines[line:]])
        case 5:
            target = random.randrange(len(lines))
            lines[line], lines[target] = lines[target], lines[line]
            return b"\n".join(lines)
        case 6 | 7:
            words[random.randrange(len(words))] = word
            lines[line] = b" ".join(words)
            return b"\n".join(lines)
        case 8:
            return data[:place] + bytes([random.randrange(256)]) + data[place + 1 :]
        case 9:
            return data[:place] + random.choice(SEPARATORS) + data[place:]
        case 10:
            return b"\n".join([*lines[:line], word, *lines[line:]])
        case _:
            return data[:place] + data[place:other][:50] * random.randint(2, 5) + data[other:]
