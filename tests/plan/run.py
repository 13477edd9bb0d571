"""Plans as text: explains the statements of `*.test` files and compares with (or records) the trees beside them. See README.md.

    run.py check  HOST:PORT [FILE|FOLDER ...]     compare with FILE.result; prints differences
    run.py record HOST:PORT [FILE|FOLDER ...]     write FILE.result
    run.py show   HOST:PORT [FILE|FOLDER ...]     print the plans, of whichever server it is"""
import argparse
import difflib
import pathlib
import re
import sys

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import test_files  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# Times of EXPLAIN ANALYZE, as lines and as JSON.
TIMES = re.compile(r" time=\S+|(?<=\n) *\"actual_(?:first|last)_row_ms\": .*\n")
# The same of costs and estimates.
JSON_COSTS = re.compile(r",\n *\"estimated_(?:total|first_row)_cost\": [^,\n]*")
JSON_ROWS = re.compile(r"(?<=\"estimated_rows\": )([0-9.e+]+)")
ESTIMATE = re.compile(r"  \(cost=\S+ rows=([0-9.e+]+)\)")


def statements(source):
    """The directive lines and the statements, each of which ends with `;` at a line's end."""
    pending = []
    for line in source.splitlines():
        if not pending and line.startswith("-- tables "):
            yield "tables", line.split()[2]
        elif not pending and (not line.strip() or line.startswith("-- ")):
            continue
        else:
            pending.append(line)
            if line.rstrip().endswith(";"):
                yield "statement", "\n".join(pending).rstrip().rstrip(";")
                pending = []
    if pending:
        raise ValueError(f"no `;` behind {pending[0]}")


def two_digits(match):
    return f"{float(f'{float(match[1]):.1e}'):.10g}"


def rounded(match):
    """Estimated rows with two digits, without the cost."""
    return f"  (rows={two_digits(match)})"


def connect(host, port, schema=None):
    return pymysql.connect(host=host, port=port, user="root", database=schema, charset="utf8mb4", autocommit=True)


class Planner:
    """Explains statements over schemas that are filled when first asked for."""

    def __init__(self, host, port):
        self.address, self.filled = (host, port), set()

    def fill(self, name):
        """The schema with the data of tables/NAME.sql."""
        schema = f"plan_{name}"
        if name not in self.filled:
            with connect(*self.address) as connection, connection.cursor() as cursor:
                cursor.execute(f"DROP DATABASE IF EXISTS {schema}")
                cursor.execute(f"CREATE DATABASE {schema}")
                cursor.execute(f"USE {schema}")
                for _, statement in statements((HERE / "tables" / f"{name}.sql").read_text(encoding="utf8")):
                    cursor.execute(statement)
            self.filled.add(name)
        return schema

    def explain(self, cursor, statement):
        try:
            is_explain = statement.upper().startswith("EXPLAIN ")
            cursor.execute(statement if is_explain else f"EXPLAIN FORMAT=TREE {statement}")
            text = JSON_ROWS.sub(two_digits, JSON_COSTS.sub("", TIMES.sub("", cursor.fetchone()[0])))
            return ESTIMATE.sub(rounded, text).rstrip("\n")
        except pymysql.err.MySQLError as error:
            return f"error {error.args[0]}: {error.args[1]}"

    def play(self, path):
        """The plans of a file. Its settings end with its connection."""
        lines = []
        with connect(*self.address) as connection, connection.cursor() as cursor:
            for kind, text in statements(path.read_text(encoding="utf8")):
                if kind == "tables":
                    connection.select_db(self.fill(text))
                    continue
                lines.append(f"> {text}")
                if text.upper().startswith("SET "):
                    cursor.execute(text)
                else:
                    lines += [self.explain(cursor, text), ""]
        return "\n".join(lines).rstrip("\n") + "\n"

    def clean(self):
        with connect(*self.address) as connection, connection.cursor() as cursor:
            for name in self.filled:
                cursor.execute(f"DROP DATABASE plan_{name}")


def check(path, got):
    """Whether the file has these plans; says where not."""
    golden = path.with_suffix(".result")
    if not golden.exists():
        print(f"{path} has no {golden.name}: run.py record")
        return False
    expected = golden.read_text(encoding="utf8")
    if got == expected:
        return True
    print(f"--- {path}")
    print("\n".join(difflib.unified_diff(expected.splitlines(), got.splitlines(), "recorded", "now", lineterm="", n=3)))
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["check", "record", "show"])
    parser.add_argument("target")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    host, port = options.target.split(":")
    planner, files, failed = Planner(host, int(port)), test_files.chosen(options.files, HERE), 0
    plans = 0
    for path in files:
        got = planner.play(path)
        plans += got.count("\n-> ") + got.count("\n{\n") + got.count("\nerror ")
        match options.mode:
            case "check":
                failed += not check(path, got)
            case "record":
                path.with_suffix(".result").write_text(got, encoding="utf8")
            case "show":
                print(f"=== {path.relative_to(HERE)}\n{got}")
    planner.clean()
    orphans = [] if options.files else [path for path in HERE.rglob("*.result") if not path.with_suffix(".test").exists()]
    for orphan in orphans:
        print(f"{orphan} has no test")
    print(f"{plans} plans in {len(files)} files, {failed} failed")
    sys.exit(bool(failed or orphans or not files))


main()
