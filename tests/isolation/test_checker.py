"""The checker finds planted anomalies and nothing in a clean history. `python test_checker.py`."""
from checker import Read, Transaction, Write, anomalies


def names(*transactions, final=None):
    return {name for name, _ in anomalies([Transaction(number, *rest) for number, rest in enumerate(transactions)], final or {})}


def w(key, value):
    return Write(key, value)


def r(key, *versions):
    return Read(key, list(versions))


PLANTED = {
    "nothing in a serial history": (set(), names((True, [w("x", 1)]), (True, [r("x", 1), w("x", 2)]), (True, [r("x", 1, 2)]), final={"x": [1, 2]})),
    "write cycle": ({"G0"}, names((True, [w("x", 1), w("y", 1)]), (True, [w("x", 2), w("y", 2)]), final={"x": [1, 2], "y": [2, 1]}) & {"G0"}),
    "aborted read": ({"G1a"}, names((False, [w("x", 1)]), (True, [r("x", 1)]))),
    "read of what nobody wrote": ({"G1a"}, names((True, [r("x", 7)]))),
    "rolled back version stays": ({"G1a"}, names((False, [w("x", 1)]), final={"x": [1]})),
    "intermediate read": ({"G1b"}, names((True, [w("x", 1), w("x", 2)]), (True, [r("x", 1)]), final={"x": [1, 2]}) & {"G1b"}),
    "circular information flow": ({"G1c"}, names((True, [w("x", 1), r("y", 1)]), (True, [w("y", 1), r("x", 1)]), final={"x": [1], "y": [1]})),
    "read skew": ({"G-single"}, names((True, [r("x"), r("y", 1)]), (True, [w("x", 1), w("y", 1)]), final={"x": [1], "y": [1]})),
    "write skew": ({"G2-item"}, names((True, [r("x"), w("y", 1)]), (True, [r("y"), w("x", 1)]), final={"x": [1], "y": [1]})),
    "lost update": ({"P4"}, names((True, [r("x", 1), w("x", 2)]), (True, [r("x", 1), w("x", 3)]), (True, [w("x", 1)]), final={"x": [1, 2, 3]})),
    "own write is not seen": ({"internal"}, names((True, [w("x", 1), r("x")]), final={"x": [1]}) & {"internal"}),
    "committed version is gone": ({"lost"}, names((True, [w("x", 1)]), final={"x": []})),
    "version twice": ({"lost"}, names((True, [w("x", 1)]), final={"x": [1, 1]}) & {"lost"}),
    "two orders": ({"order"}, names((True, [w("x", 1)]), (True, [w("x", 2)]), (True, [r("x", 1, 2)]), (True, [r("x", 2)]), final={"x": [1, 2]}) & {"order"}),
    "an unknown end may have committed": (set(), names((None, [w("x", 1)]), (True, [r("x", 1)]), final={"x": [1]})),
    "an unknown end may be gone": (set(), names((None, [w("x", 1)]), (True, [r("x")]), final={"x": []})),
}


def main():
    wrong = {name: (expected, got) for name, (expected, got) in PLANTED.items() if expected != got}
    for name, (expected, got) in wrong.items():
        print(f"{name}: expected {sorted(expected)}, found {sorted(got)}")
    print(f"{len(PLANTED) - len(wrong)} passed, {len(wrong)} failed")
    raise SystemExit(bool(wrong))


main()
