"""Records how MySQL prints stored expressions: fills the second column of printed_expressions.tsv.

    record_printed_expressions.py HOST:PORT          ask this server (MySQL 9.7, the reference) for the expressions without a text
    record_printed_expressions.py --all HOST:PORT    ask for all of them again

Each line is `EXPRESSION` or `EXPRESSION TAB TEXT`; only the first tab counts, the text may hold more. `#sql_mode=MODES` sets
sql_mode for the lines behind it. Other lines that begin with # are kept. An expression is made a generated column, a DEFAULT
and a CHECK; its text is what SHOW CREATE TABLE has. MySQL prints a CHECK once, and the others, then reads that and prints it
again: where that makes a difference a line follows that begins with the tab and has the CHECK's text.
Nothing is written if MySQL refuses an expression everywhere."""
import argparse
import pathlib
import re
import sys

import pymysql

FILE = pathlib.Path(__file__).resolve().with_name("printed_expressions.tsv")
SCHEMA = "printer_helper"
COLUMNS = """a INT, b INT, c INT, s VARCHAR(20), u VARCHAR(20), l VARCHAR(20) CHARACTER SET latin1, y VARBINARY(20), d DATETIME,
    e DATE, m TIME, j JSON, g GEOMETRY, f DOUBLE, n DECIMAL(10,2), i BIT(8), z INT DEFAULT 5, `odd``name` INT, `größe` INT, `select` INT"""
PLACES = {
    "generated column": ("x LONGBLOB GENERATED ALWAYS AS ({}) VIRTUAL", r"^  `x` .*? GENERATED ALWAYS AS \((.*)\) VIRTUAL$"),
    "DEFAULT": ("x LONGBLOB DEFAULT ({})", r"^  `x` .*? DEFAULT \((.*)\)$"),
    "CHECK": ("CONSTRAINT x CHECK ({})", r"^  CONSTRAINT `x` CHECK \((.*)\)$"),
}


def ask(cursor, modes, place, expression):
    """The text that the server keeps, or its error."""
    definition, pattern = PLACES[place]
    cursor.execute("SET sql_mode = ''")
    cursor.execute("DROP TABLE IF EXISTS t")
    try:
        cursor.execute("SET sql_mode = %s", [modes])
        cursor.execute(f"CREATE TABLE t ({COLUMNS}, {definition.format(expression)})")
    except pymysql.err.MySQLError as error:
        return None, f"{place}: {error.args[0]}: {error.args[1]}"
    cursor.execute("SET sql_mode = ''")
    cursor.execute("SHOW CREATE TABLE t")
    table = cursor.fetchone()[1]
    found = re.search(pattern, table, re.MULTILINE)
    return (found.group(1), None) if found else (None, f"no text in {table!r}")


def recorded(cursor, modes, expression):
    """The lines for an expression, and what went wrong."""
    answers = [ask(cursor, modes, place, expression) for place in PLACES]
    generated, default, check = (text for text, _ in answers)
    if generated and default and generated != default:
        return [], f"generated column {generated}, but DEFAULT {default}"
    twice = generated or default
    if not twice and not check:
        return [], "; ".join(error for _, error in answers)
    lines = [f"{expression}\t{twice or ''}"]
    return lines + [f"\t{check}"] if check and check != twice else lines, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--all", action="store_true", help="ask again for what is recorded")
    options = parser.parse_args()
    host, port = options.target.split(":")
    connection = pymysql.connect(host=host, port=int(port), user="root", charset="utf8mb4", autocommit=True)
    lines, modes, refused = [], "", 0
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {SCHEMA}")
        cursor.execute(f"CREATE DATABASE {SCHEMA}")
        cursor.execute(f"USE {SCHEMA}")
        for line in FILE.read_text(encoding="utf8").split("\n"):
            if line.startswith("#sql_mode="):
                modes = line.partition("=")[2]
            if not line or line.startswith("#") or ("\t" in line and not options.all):
                lines.append(line)
                continue
            expression = line.split("\t", 1)[0]
            if not expression:
                # The CHECK's text of the line above.
                continue
            found, problem = recorded(cursor, modes, expression)
            if problem:
                refused += 1
                print(f"{expression}: {problem}")
            lines += found
        cursor.execute(f"DROP DATABASE {SCHEMA}")
    if refused:
        sys.exit(f"{refused} expressions are refused: nothing is written")
    FILE.write_text("\n".join(lines), encoding="utf8", newline="\n")


main()
