"""Writes the tables' rows as files for LOAD DATA. The same scale gives the same bytes everywhere."""
import contextlib
import hashlib
import pathlib
import random

import other_rows
import tpch_rows

HERE = pathlib.Path(__file__).resolve().parent
TABLES = ["region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem", "page", "revision", "sbtest1", "sbtest2", "t", "u"]


class Dice:
    """Only `random()` of Python's generator is promised to stay as it is, so all else is made of it."""

    def __init__(self, seed):
        self.fraction = random.Random(seed).random

    def between(self, low, high):
        return low + int(self.fraction() * (high - low + 1))

    def pick(self, sequence):
        return sequence[int(self.fraction() * len(sequence))]


def version():
    """Changes with what the files would hold."""
    digest = hashlib.sha256()
    for path in [*sorted(HERE.glob("*_rows.py")), HERE / "generate.py", *sorted((HERE / "schema").glob("*.sql"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def line(row):
    return "\t".join(map(str, row)) + "\n"


def write_pairs(files, first, second, pairs):
    """Rows of two tables that are made together. The second member of a pair is a row or a list of rows."""
    for one, other in pairs:
        files[first].write(line(one))
        files[second].writelines(map(line, other if isinstance(other, list) else [other]))


def write_all(folder, scale):
    counts = tpch_rows.counts_at(scale)
    with contextlib.ExitStack() as stack:
        files = {name: stack.enter_context(open(folder / f"{name}.tsv", "w", encoding="utf8")) for name in TABLES}
        for name in ("region", "nation", "supplier", "part", "partsupp", "customer"):
            files[name].writelines(map(line, getattr(tpch_rows, name)(Dice(name), counts)))
        write_pairs(files, "orders", "lineitem", tpch_rows.orders_with_lines(Dice("orders"), counts))
        write_pairs(files, "page", "revision", other_rows.page_and_revision(Dice("page"), scale))
        for name in ("sbtest1", "sbtest2"):
            files[name].writelines(map(line, other_rows.sbtest(Dice(name), scale)))
        for name in ("t", "u"):
            files[name].writelines(map(line, getattr(other_rows, name)(Dice(name), scale)))


def files_at(parent, scale):
    """The folder with the files, made unless it is there."""
    folder = pathlib.Path(parent) / f"queries-{scale:g}-{version()}"
    done = folder / "done"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_all(folder, scale)
        done.touch()
    return folder
