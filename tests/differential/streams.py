"""The classes of statements: each a stream of (statement, parameters, whether it counts), the same for the same seed.
Statements that do not count prepare the next ones; their outcome is not compared."""
from random import Random

from expressions import Expressions
from literals import LITERALS, TYPES
from queries import Tables

STRICT = "SET sql_mode = DEFAULT"
LOOSE = "SET sql_mode = ''"
# A time zone, a clock and a character set that make answers repeatable.
SESSION = ["SET NAMES utf8mb4", "SET time_zone = '+00:00'", "SET timestamp = 1705314600", "SET max_error_count = 64"]
TABLE_LIFE = 60  # statements between two sets of tables
PAIR_OPERATORS = ["=", "<", ">", "<=>", "<>", "<=", ">="]


def expressions(random):
    """SELECT of one expression without a table."""
    maker = Expressions(random)
    while True:
        yield f"SELECT {maker.nested(random.randint(0, 2))}", None, True


def queries(random, typed):
    """Queries over random tables; changed tables now and then."""
    while True:
        tables = Tables(random, typed)
        yield STRICT, None, False
        for statement in tables.create():
            yield statement, None, False
        for _ in range(TABLE_LIFE):
            yield tables.query(), None, True


def changes(random, mode, typed):
    """DML over random tables. Each change is read back and undone, so that one difference does not become many."""
    while True:
        tables = Tables(random, typed)
        yield mode, None, False
        for statement in tables.create():
            yield statement, None, False
        for _ in range(TABLE_LIFE):
            table, change = tables.change()
            yield "BEGIN", None, False
            yield change, None, True
            yield f"SELECT * FROM {table}", None, True
            yield "ROLLBACK", None, False


def pairs(random):
    """Comparisons between columns of every two types."""
    yield STRICT, None, False
    for indexed in ("plain", "keyed"):
        columns = ", ".join(f"{name} {declaration}" for name, declaration, _ in TYPES)
        keys = ", ".join(f"KEY ({name}{'(10)' if name == 'tx' else ''})" for name, _, _ in TYPES)
        yield f"DROP TABLE IF EXISTS {indexed}", None, False
        yield f"CREATE TABLE {indexed} (id INT PRIMARY KEY, {columns}{', ' + keys if indexed == 'keyed' else ''})", None, False
        for row in range(4):
            values = ", ".join(values[row] for _, _, values in TYPES)
            yield f"INSERT INTO {indexed} VALUES ({row}, {values})", None, False
    names = [name for name, _, _ in TYPES]
    while True:
        left, right, operator = random.choice(names), random.choice(names), random.choice(PAIR_OPERATORS)
        form = random.randrange(4)
        if form == 0:
            yield f"SELECT a.id, b.id, a.{left} {operator} b.{right} FROM plain a, plain b", None, True
        elif form == 1:
            table = random.choice(["plain", "keyed"])
            literal = random.choice(LITERALS[random.choice("iiddfsssxDTSybn")])
            yield f"SELECT id FROM {table} WHERE {left} {operator} {literal}", None, True
        elif form == 2:
            yield f"SELECT a.id, b.id FROM plain a JOIN keyed b ON a.{left} {operator} b.{right}", None, True
        else:
            yield f"SELECT id FROM keyed WHERE {left} IN (SELECT {right} FROM plain)", None, True


def inserts(random):
    """INSERT .. SELECT from a column of every type into a column of every other, strict and not."""
    yield STRICT, None, False
    columns = ", ".join(f"{name} {declaration}" for name, declaration, _ in TYPES)
    for table in ("source", "target"):
        yield f"DROP TABLE IF EXISTS {table}", None, False
        yield f"CREATE TABLE {table} (id INT PRIMARY KEY, {columns})", None, False
    for row in range(4):
        yield f"INSERT INTO source VALUES ({row}, {', '.join(values[row] for _, _, values in TYPES)})", None, False
    names = [name for name, _, _ in TYPES]
    while True:
        yield random.choice([STRICT, LOOSE]), None, False
        into, out, row = random.choice(names), random.choice(names), random.randrange(4)
        yield f"INSERT {random.choice(['', '', 'IGNORE '])}INTO target (id, {into}) SELECT id, {out} FROM source WHERE id = {row}", None, True
        yield f"SELECT {into}, HEX({into}) FROM target", None, True
        yield "DELETE FROM target", None, False


def alters(random):
    """ALTER TABLE .. MODIFY from every type to every other."""
    while True:
        yield STRICT, None, False
        _, before, values = random.choice(TYPES)
        _, after, _ = random.choice(TYPES)
        yield "DROP TABLE IF EXISTS altered", None, False
        yield f"CREATE TABLE altered (id INT PRIMARY KEY, c {before})", None, False
        rows = [f"({at}, {value})" for at, value in enumerate(random.sample(values, random.randint(0, 2)))] + ["(9, NULL)"]
        yield f"INSERT INTO altered VALUES {', '.join(rows)}", None, False
        yield random.choice([STRICT, STRICT, LOOSE]), None, False
        yield f"ALTER TABLE altered MODIFY c {after}{random.choice(['', '', ' NOT NULL'])}", None, True
        yield "SELECT id, c, HEX(c) FROM altered", None, True


PARAMETERS = [0, 1, -1, 255, -2**63, 2**63 - 1, 20240115, 1.5, 0.1, -1e100, "", "abc", "5", "\u3042", "2024-01-15", "10:20:30", b"\xff\x00", b"abc", None]


def binary(random):
    """Prepared statements: rows in the binary protocol, parameters of every type."""
    yield STRICT, None, False
    columns = ", ".join(f"{name} {declaration}" for name, declaration, _ in TYPES)
    yield "DROP TABLE IF EXISTS wide", None, False
    yield f"CREATE TABLE wide (id INT PRIMARY KEY, {columns})", None, False
    for row in range(4):
        yield f"INSERT INTO wide VALUES ({row}, {', '.join(values[row] for _, _, values in TYPES)})", None, False
    yield "INSERT INTO wide (id) VALUES (4)", None, False
    names = [name for name, _, _ in TYPES]
    maker = Expressions(random, {}, wild=0.1)
    while True:
        name, parameter = random.choice(names), random.choice(PARAMETERS)
        form = random.randrange(5)
        if form == 0:
            yield f"SELECT id, {name} FROM wide WHERE {name} {random.choice(PAIR_OPERATORS)} ?", [parameter], True
        elif form == 1:
            yield f"SELECT {name}, COALESCE({name}, ?), MAX({random.choice(names)}) FROM wide GROUP BY id, {name}", [parameter], True
        elif form == 2:
            operator = random.choice(["+", "-", "*", "/", "=", "<", "AND", "|", "DIV"])
            yield f"SELECT ? {operator} ?", [parameter, random.choice(PARAMETERS)], True
        elif form == 3:
            yield f"SELECT {maker.nested(1)}", [], True
        else:
            yield f"SELECT CONCAT(?, 'x'), IF(? IS NULL, 1, 'a'), {name} = ? FROM wide", [parameter, parameter, random.choice(PARAMETERS)], True


# name: (what makes it, differences in 10,000 that a full run may show)
CLASSES = {
    "expressions": (expressions, 30),
    "queries": (lambda random: queries(random, True), 3),
    "wild_queries": (lambda random: queries(random, False), 276),
    "strict_dml": (lambda random: changes(random, STRICT, False), 20),
    "loose_dml": (lambda random: changes(random, LOOSE, True), 37),
    "pairs": (pairs, 50),
    "inserts": (inserts, 20),
    "alters": (alters, 30),
    "binary": (binary, 30),
}


def stream(name, seed):
    """The endless stream of a class: (statement, parameters or None, whether it counts)."""
    for statement in SESSION:
        yield statement, None, False
    yield from CLASSES[name][0](Random(f"{name} {seed}"))
