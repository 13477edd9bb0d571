"""Differential test against MySQL 9.7: random statements of several classes, answers compared in error number, rows, column names
and types, affected rows and warnings.

    run.py compare HOST:PORT REFERENCE [--class C ...] [--count N] [--seed S] [--show N] [--goals]    both servers live
    run.py record  REFERENCE                                                              writes recorded.json.xz
    run.py check   HOST:PORT        the recorded statements: differences that are not in known.txt fail
    run.py note    HOST:PORT        writes today's differences to known.txt

`compare` prints differences by class and kind in 10,000 statements; --goals fails where a class has more than it may (streams.py)."""
import argparse
import collections
import json
import lzma
import pathlib
import sys

from outcome import KINDS, Session, difference, is_determined
from streams import CLASSES, stream

HERE = pathlib.Path(__file__).resolve().parent
RECORDED, KNOWN = HERE / "recorded.json.xz", HERE / "known.txt"
# Statements that count, by class, in the recorded sample.
SAMPLE = {"expressions": 7000, "queries": 3000, "wild_queries": 1500, "strict_dml": 1500, "loose_dml": 1500, "pairs": 2500, "inserts": 2000, "alters": 800, "binary": 1700}
SAMPLE_SEED = 1


def take(name, seed, count):
    """The statements of a class, up to `count` that are compared."""
    left = count
    for statement, parameters, counts in stream(name, seed):
        if left == 0:
            return
        left -= counts
        yield statement, parameters, counts


class Tally:
    """Differences of a class, by kind."""

    def __init__(self, name):
        self.name, self.compared, self.undetermined = name, 0, 0
        self.kinds = collections.Counter()

    def line(self):
        grave = sum(count for kind, count in self.kinds.items() if kind != "warning")
        rate = lambda count: round(count * 10_000 / max(self.compared, 1), 1)  # noqa: E731
        kinds = ", ".join(f"{kind} {rate(self.kinds[kind])}" for kind in KINDS if self.kinds[kind])
        return f"{self.name}: {self.compared} compared, {rate(grave)} differences in 10,000 ({kinds or 'none'}), {self.undetermined} not determined"

    def over_goal(self):
        grave = sum(count for kind, count in self.kinds.items() if kind != "warning")
        return grave * 10_000 > CLASSES[self.name][1] * self.compared


def show(statement, parameters, kind, expected, got):
    print(f"-- {kind}\n{statement}" + (f"   with {parameters}" if parameters else ""))
    print(f"   MySQL: {json.dumps(expected, ensure_ascii=False)[:600]}\n   here:  {json.dumps(got, ensure_ascii=False)[:600]}")


def compare(options):
    failed = False
    for name in options.classes or CLASSES:
        here, reference = (Session(target, f"differential_{options.schema}") for target in (options.target, options.reference))
        tally, shown = Tally(name), 0
        for statement, parameters, counts in take(name, options.seed, options.count):
            expected, got = reference.run(statement, parameters), here.run(statement, parameters)
            if not counts:
                continue
            tally.compared += 1
            kind = difference(expected, got)
            if kind in ("error", "rows") and not is_determined(reference, statement, parameters, expected):
                tally.undetermined += 1
            elif kind:
                tally.kinds[kind] += 1
                if shown < options.show and (not options.kinds or kind in options.kinds):
                    shown += 1
                    show(statement, parameters, kind, expected, got)
        print(tally.line(), flush=True)
        here.close()
        reference.close()
        failed |= tally.over_goal() or bool(tally.kinds["lost"])
    return failed and options.goals


def record(options):
    """Twice: what MySQL itself does not answer the same way again (its choice of an index orders warnings) does not count. Nor does what it
    answers otherwise by another plan."""
    first, second = ({name: record_class(options.target, name, count, other_plans) for name, count in SAMPLE.items()} for other_plans in (True, False))
    unstable = 0
    for name, entries in first.items():
        for entry, again in zip(entries, second[name]):
            if entry[3] and difference(entry[3], again[3]):
                entry[3], unstable = None, unstable + 1
    print(f"{unstable} unstable")
    with lzma.open(RECORDED, "wt", encoding="utf8", preset=9) as file:
        json.dump(first, file, ensure_ascii=False)
    return False


def record_class(target, name, count, other_plans):
    """[statement, parameters, places of those that are hex of bytes, outcome or None] of a class. With `other_plans` the outcome of a query that
    MySQL answers otherwise by another plan is None."""
    reference, entries, undetermined = Session(target, "differential_recorded"), [], 0
    for statement, parameters, counts in take(name, SAMPLE_SEED, count):
        outcome = reference.run(statement, parameters)
        plain = parameters and [value.hex() if isinstance(value, bytes) else value for value in parameters]
        blobs = [at for at, value in enumerate(parameters or []) if isinstance(value, bytes)]
        if counts and other_plans and not is_determined(reference, statement, parameters, outcome):
            counts, undetermined = False, undetermined + 1
        entries.append([statement, plain, blobs, outcome if counts else None])
    reference.close()
    print(f"{name}: {len(entries)} statements, {undetermined} not determined", flush=True)
    return entries


def replay(target):
    """Yields (class, number, kind, statement, parameters, expected, got) for each difference, and last the number compared."""
    with lzma.open(RECORDED, "rt", encoding="utf8") as file:
        recorded = json.load(file)
    compared = 0
    for name, entries in recorded.items():
        here = Session(target, "differential_recorded")
        for number, (statement, parameters, blobs, expected) in enumerate(entries):
            if parameters is not None:
                parameters = [bytes.fromhex(value) if at in blobs else value for at, value in enumerate(parameters)]
            got = here.run(statement, parameters)
            if expected is None:
                continue
            compared += 1
            kind = difference(expected, got)
            if kind:
                yield name, number, kind, statement, parameters, expected, got
        here.close()
    yield compared


def check(options):
    known = set(KNOWN.read_text(encoding="utf8").split("\n")) if KNOWN.exists() else set()
    seen, new, compared = set(), 0, 0
    for found in replay(options.target):
        if isinstance(found, int):
            compared = found
            continue
        name, number, kind, statement, parameters, expected, got = found
        seen.add(f"{name} {number} {kind}")
        if f"{name} {number} {kind}" not in known:
            new += 1
            if new <= options.show:
                print(f"{name} {number}", end=" ")
                show(statement, parameters, kind, expected, got)
    gone = sum(1 for line in known if line and line not in seen)
    print(f"{compared} compared, {len(seen)} differ, {new} of them new, {gone} known ones are gone" + (": run.py note" if gone else ""))
    return new > 0


def note(options):
    lines = [" ".join(map(str, found[:3])) for found in replay(options.target) if not isinstance(found, int)]
    KNOWN.write_text("".join(line + "\n" for line in lines), encoding="utf8")
    print(f"{len(lines)} known differences", collections.Counter(line.split()[0] + " " + line.split()[2] for line in lines).most_common())
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["compare", "record", "check", "note"])
    parser.add_argument("target")
    parser.add_argument("reference", nargs="?")
    parser.add_argument("--class", dest="classes", action="append", choices=list(CLASSES))
    parser.add_argument("--kind", dest="kinds", action="append", choices=KINDS, help="show only differences of this kind")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--schema", default="live", help="suffix of the schema that is used on both servers")
    parser.add_argument("--goals", action="store_true")
    options = parser.parse_args()
    sys.exit({"compare": compare, "record": record, "check": check, "note": note}[options.mode](options))


if __name__ == "__main__":
    main()
