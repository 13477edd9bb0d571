"""Foreign keys over random schemas: `run.py HOST:PORT [--statements N] [--seed S] [--reference HOST:PORT]`.

Each schema has a few tables whose keys refer to one another in every way: to themselves, in circles and diamonds, over two columns, over
keys that may be NULL, with all actions. Random statements change rows; after each of them no row may refer to a parent that is not there,
and no index of a table may show other rows than the table has. With `--reference` each statement runs on MySQL 9.7 too, and errors, affected
rows, warnings and the rows of all tables must be the same. MySQL leaves orphans in some cases (decision 18): a schema in which it has done so
is given up, and counted, and so is one in which a circle of keys has too many tables for it."""
import argparse
import collections
import random
import sys

import pymysql

STATEMENTS_PER_SCHEMA = 60
ACTIONS = ["", "restrict", "cascade", "set null", "no action", "set default", "cascade", "set null", "cascade"]
# A limit of MySQL's: a circle of keys counts its tables again and again.
TABLES_MAX = "Foreign key cascade delete/update exceeds max tables limit of 30."
COLUMNS = ("a", "b", "u", "v")


def shown(error):
    """An error; which of several keys holds a row or a table is not promised."""
    number, text = error
    return (number, "") if number in (1451, 1701) else (number, text)


class Server:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.connection = pymysql.connect(host=host, port=int(port), user="root", autocommit=True)
        self.cursor = self.connection.cursor()

    def run(self, statement):
        """(error or affected rows, warnings) of a statement."""
        try:
            outcome = self.cursor.execute(statement)
        except pymysql.Error as error:
            return shown(error.args), ()
        warnings = ()
        if self.connection._result is not None and self.connection._result.warning_count:
            self.cursor.execute("show warnings")
            warnings = tuple((level, *shown((code, text))) for level, code, text in self.cursor.fetchall())
        return outcome, warnings

    def rows(self, query):
        self.cursor.execute(query)
        return self.cursor.fetchall()


class Key:
    def __init__(self, name, child, columns, parent, parent_columns, on_delete, on_update):
        self.name, self.child, self.columns, self.parent, self.parent_columns = name, child, columns, parent, parent_columns
        self.on_delete, self.on_update = on_delete, on_update

    def clause(self):
        actions = "".join(f" on {event} {action}" for event, action in (("delete", self.on_delete), ("update", self.on_update)) if action)
        return (f"add constraint {self.name} foreign key ({', '.join(self.columns)}) "
                f"references {self.parent} ({', '.join(self.parent_columns)}){actions}")

    def orphans(self):
        joined = " and ".join(f"p.{parent} = c.{own}" for own, parent in zip(self.columns, self.parent_columns))
        present = " and ".join(f"c.{own} is not null" for own in self.columns)
        return f"select count(*) from {self.child} c left join {self.parent} p on {joined} where {present} and p.{self.parent_columns[0]} is null"


class Schema:
    """Tables of one shape (`id` the primary key, `u` and the pair (`a`, `b`) unique or not) and keys between them."""

    def __init__(self, random_source):
        self.random = random_source
        count = self.random.randint(1, 6)
        self.tables = [f"t{number}" for number in range(count)]
        self.pairs = {table: self.random.random() < 0.6 for table in self.tables}
        # MySQL 9.7 takes a key for NULL if any part of the index is that serves it, so no key is the beginning of another.
        self.composite = {table: self.random.random() < 0.4 for table in self.tables}
        self.keys, self.taken = [], 0

    def create(self):
        statements = []
        for table in self.tables:
            pair = ", unique key ab (a, b)" if self.pairs[table] else ""
            statements.append(f"create table {table} (id int primary key, a int, b int, u int unique, v int{pair})")
        return statements

    def key(self):
        """An ALTER TABLE that adds a key; the first ones come before any row."""
        child, parent = self.random.choice(self.tables), self.random.choice(self.tables)
        shapes = [(("b",), ("u",)), (("v",), ("id",)), (("v",), ("u",)), (("id",), ("id",))]
        if not self.composite[child]:
            shapes += [(("u",), ("id",)), (("u",), ("u",))]
            shapes += [] if self.pairs[child] else [(("a",), ("id",))]
        elif self.pairs[parent] and parent != child:
            # Of a row's own key MySQL compares the first column only.
            shapes += [(("a", "b"), ("a", "b")), (("u", "v"), ("a", "b"))] * 2
        columns, parent_columns = self.random.choice(shapes)
        self.taken += 1
        # Names in another order than the keys are made in.
        name = f"k{self.random.randrange(100):02}_{self.taken}"
        return Key(name, child, columns, parent, parent_columns, self.random.choice(ACTIONS), self.random.choice(ACTIONS))

    def value(self, column=None):
        if column != "id" and self.random.random() < 0.4:
            return "null"
        return str(self.random.randrange(5))

    def row(self):
        return f"({', '.join(self.value(column) for column in ('id', 'a', 'b', 'u', 'v'))})"

    def where(self):
        column = self.random.choice(("id",) + COLUMNS)
        return self.random.choice([f"{column} = {self.value('id')}", f"{column} > {self.value('id')}", f"{column} is null", "id in (1, 3, 5)"])

    def statement(self):
        choice, table = self.random.random(), self.random.choice(self.tables)
        ignore = self.random.choice(["", "", " ignore"])
        if choice < 0.35:
            rows = ", ".join(self.row() for _ in range(self.random.choice([1, 1, 2, 4])))
            return f"insert{ignore} into {table} values {rows}"
        if choice < 0.42:
            return f"replace into {table} values {self.row()}"
        if choice < 0.50:
            column = self.random.choice(("id",) + COLUMNS)
            return f"insert{ignore} into {table} values {self.row()} on duplicate key update {column} = {self.value(column)}"
        if choice < 0.55:
            other = self.random.choice(self.tables)
            return f"insert{ignore} into {table} select id + 1, u, v, a, b from {other} order by id limit 3"
        if choice < 0.80:
            column = self.random.choice(("id",) + COLUMNS)
            value = self.random.choice([self.value(column), f"{column} + 1", f"{column} - 1"])
            return f"update{ignore} {table} set {column} = {value} where {self.where()} order by id"
        if choice < 0.97:
            return f"delete{ignore} from {table} where {self.where()} order by id"
        return self.random.choice(["set foreign_key_checks = 1", f"truncate table {table}", f"delete from {table} order by id desc"])


def check_invariants(server, schema, statement):
    for key in schema.keys:
        if server.rows(key.orphans())[0][0]:
            raise SystemExit(f"orphans of {key.clause()} on {key.child} after: {statement}")
    for table in schema.tables:
        whole = server.rows(f"select count(*) from {table} use index (primary)")[0][0]
        by_unique = server.rows(f"select count(*) from {table} force index (u) where u is null or u is not null")[0][0]
        if whole != by_unique:
            raise SystemExit(f"{table} has {whole} rows, its index {by_unique}, after: {statement}")


def has_orphans(server, schema):
    return any(server.rows(key.orphans())[0][0] for key in schema.keys)


def contents(server, schema):
    return [server.rows(f"select * from {table} order by id") for table in schema.tables]


class Differences:
    def __init__(self):
        self.given_up, self.found, self.kinds = 0, [], collections.Counter()

    def add(self, seed, log, statement, own, reference):
        self.found.append((seed, statement, own, reference))
        print(f"difference (schema {seed}) at: {statement}\n  this server: {own}\n  reference:   {reference}")
        print("  after: " + ";\n         ".join(log[-200:]))


def run_schema(seed, server, reference, differences, count):
    """Runs one schema's statements; how many were run."""
    schema, log = Schema(random.Random(seed)), []
    servers = [server] + ([reference] if reference else [])
    for each in servers:
        for statement in ("set foreign_key_checks = 1", "drop database if exists foreign_keys", "create database foreign_keys", "use foreign_keys"):
            each.run(statement)
    plan = schema.create()
    pending = [schema.key() for _ in range(schema.random.randint(1, len(schema.tables) + 2))]
    for number in range(len(plan) + len(pending) + count):
        key = None
        if number < len(plan):
            statement = plan[number]
        elif number < len(plan) + len(pending):
            key = pending[number - len(plan)]
            statement = f"alter table {key.child} {key.clause()}"
        else:
            statement = schema.statement()
        log.append(statement)
        answers = [each.run(statement) for each in servers]
        outcome = answers[0][0]
        differences.kinds[f"error {outcome[0]}" if isinstance(outcome, tuple) else "ok"] += 1
        if key is not None and not isinstance(answers[0][0], tuple):
            schema.keys.append(key)
        if number < len(plan):
            continue
        check_invariants(server, schema, statement)
        if not reference:
            continue
        if has_orphans(reference, schema) or answers[1][0] == (6575, TABLES_MAX):
            differences.given_up += 1
            return number
        states = [contents(each, schema) for each in servers]
        if " ignore " in statement and states[0] != states[1] and statement.startswith(("update", "delete")):
            # MySQL leaves done what it did to other rows before one of them could not follow.
            differences.given_up += 1
            return number
        if answers[0] != answers[1] or states[0] != states[1]:
            differences.add(seed, log, statement, (answers[0], states[0]), (answers[1], states[1]))
            return number
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--reference")
    parser.add_argument("--statements", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    server = Server(arguments.target)
    reference = Server(arguments.reference) if arguments.reference else None
    differences, done, seed = Differences(), 0, arguments.seed
    while done < arguments.statements:
        done += max(run_schema(seed, server, reference, differences, STATEMENTS_PER_SCHEMA), 1)
        seed += 1
    server.run("drop database foreign_keys")
    print(f"foreign_keys: {done} statements over {seed - arguments.seed} schemas, {len(differences.found)} differences, "
          f"{differences.given_up} schemas given up with the reference; {dict(differences.kinds.most_common())}")
    sys.exit(1 if differences.found else 0)


if __name__ == "__main__":
    main()
