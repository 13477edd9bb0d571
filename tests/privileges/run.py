"""Privilege matrix: every cell of `cells.py` runs as a user that has just the cell's grants.

    run.py check  HOST:PORT     compare with outcomes.result; prints cells that differ and are not in outcomes.known
    run.py record HOST:PORT     write outcomes.result; the server is MySQL 9.7, the reference
    run.py note   HOST:PORT     write today's differences to outcomes.known (then say the reason above each)

An outcome is the error (number and message) or the rows that the user saw. root connects without password. The schemas and
accounts that it makes begin with `security_`; the servers need `--secure-file-priv=` and `--local-infile=ON`."""
import argparse
import collections
import itertools
import pathlib
import sys
import tempfile
import time

import pymysql

import cells as matrix

HERE = pathlib.Path(__file__).resolve().parent
RESULT, KNOWN = HERE / "outcomes.result", HERE / "outcomes.known"
# Open at once; max_connections is 151.
CONNECTIONS_MAX = 100
LOCAL_ROWS = "3\t30\tthird\n4\t40\tfourth\n"


class Server:
    """Connections by user, and the accounts made so far."""

    def __init__(self, target):
        self.host, _, port = target.partition(":")
        self.port = int(port)
        self.connections, self.users = {}, {}
        self.root = self.connect("root")
        self.root_id = self.root.thread_id()

    def connect(self, user):
        return pymysql.connect(host=self.host, port=self.port, user=user, charset="utf8mb4", local_infile=True, autocommit=True)

    def do(self, statements):
        with self.root.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def prepare(self):
        self.drop_users()
        self.do(["SET GLOBAL partial_revokes = ON"])
        self.do(matrix.WORLD)
        self.do(matrix.TARGETS)

    def finish(self):
        self.drop_users()
        self.do(["SET GLOBAL partial_revokes = DEFAULT"])

    def drop_users(self):
        with self.root.cursor() as cursor:
            cursor.execute("SELECT user, host FROM mysql.user WHERE user LIKE 'security%'")
            found = cursor.fetchall()
        self.do([f"DROP USER `{user}`@`{host}`" for user, host in found])

    def user(self, grants):
        """The name of the user with those grants. With ROLE first, a role has them and the user has the role."""
        if grants in self.users:
            return self.users[grants]
        name = f"security_u{len(self.users) + 1}"
        self.users[grants] = name
        self.do([f"CREATE USER {name}@localhost"])
        holder, wanted = f"{name}@localhost", grants
        if grants[:1] == ("ROLE",):
            holder, wanted = f"{name}_role@localhost", grants[1:]
            self.do([f"CREATE ROLE {holder}"])
        around = [name for name in matrix.MADE if any(grant.endswith(name) for grant in wanted)]
        # A table must be there when something is granted on it; its grants stay when it goes.
        self.do(f"CREATE TABLE {name} (a INT)" for name in around)
        self.do(f"REVOKE {grant[1:]} FROM {holder}" if grant.startswith("-") else f"GRANT {grant} TO {holder}" for grant in wanted)
        self.do(f"DROP TABLE {name}" for name in around)
        if holder != f"{name}@localhost":
            self.do([f"GRANT {holder} TO {name}@localhost", f"SET DEFAULT ROLE ALL TO {name}@localhost"])
        return name

    def session(self, name):
        if name not in self.connections:
            if len(self.connections) == CONNECTIONS_MAX:
                self.forget(next(iter(self.connections)))
            self.connections[name] = self.connect(name)
        return self.connections[name]

    def forget(self, name):
        connection = self.connections.pop(name, None)
        if connection:
            connection.close()


def text(value):
    if isinstance(value, bytes):
        value = value.decode("utf8", "replace")
    return "NULL" if value is None else str(value)


def shown(cursor, rows):
    if cursor.description is None or rows is False:
        return "ok"
    found = cursor.fetchall()
    if rows == "count":
        return f"ok, {len(found)} rows"
    if rows == "first":
        found = [row[:1] for row in found]
    return "ok" + "".join(" [" + ", ".join(text(value) for value in row) + "]" for row in found)


def outcome(server, cell, files):
    """What the user gets for each step; DML is undone."""
    name = server.user(cell.grants)
    outcomes, succeeded = [], False
    try:
        connection = server.session(name)
        with connection.cursor() as cursor:
            if not cell.undo:
                cursor.execute("BEGIN")
            for step in cell.steps:
                sql = step.replace("{root_id}", str(server.root_id)).replace("'rows'", f"'{files}/rows'")
                try:
                    cursor.execute(sql)
                    outcomes.append(shown(cursor, cell.rows))
                    succeeded = True
                except pymysql.err.MySQLError as error:
                    outcomes.append(f"{error.args[0]} {error.args[1]}")
            if not cell.undo:
                cursor.execute("ROLLBACK")
    except pymysql.err.MySQLError as error:
        outcomes.append(f"connection: {error.args[0]} {error.args[1]}")
        server.forget(name)
    if changes_session(cell):
        server.forget(name)
    if succeeded and cell.undo:
        server.do(cell.undo)
    return "; ".join(clean(one, name, server) for one in outcomes)


def changes_session(cell):
    """Whether the steps leave something in the session that a later cell would see."""
    words = ("CREATE TEMPORARY", "USE ", "SET ", "LOCK ", "PREPARE ", "FLUSH TABLES", "DROP DATABASE")
    return any(step.startswith(words) for step in cell.steps)


def clean(line, name, server):
    """Without what differs from run to run."""
    line = line.replace(f"'{name}'@'localhost'", "USER").replace(f"`{name}`@`localhost`", "USER").replace(name, "USER")
    return line.replace(f"thread {server.root_id}", "thread ID").replace("\n", "\\n")


def run(target):
    """{(statement, state): outcome} in order."""
    server = Server(target)
    server.prepare()
    outcomes, seen = collections.OrderedDict(), set()
    with tempfile.TemporaryDirectory(prefix="security-") as files:
        (pathlib.Path(files) / "rows").write_text(LOCAL_ROWS)
        for cell in matrix.cells():
            statement = "; ".join(cell.steps)
            if (statement, cell.grants) in seen:
                continue
            seen.add((statement, cell.grants))
            key = (statement, cell.state)
            if key in outcomes:
                key = (statement, f"{cell.state}: {', '.join(cell.grants)}")
            outcomes[key] = outcome(server, cell, files)
    server.finish()
    return outcomes


def write(path, outcomes):
    lines = []
    for statement, group in itertools.groupby(outcomes.items(), key=lambda item: item[0][0]):
        lines.append(statement)
        by_outcome = collections.OrderedDict()
        for (_, state), got in group:
            by_outcome.setdefault(got, []).append(state)
        for got, states in by_outcome.items():
            lines.append(f"  {got}")
            lines += [f"    {state}" for state in states]
    path.write_text("\n".join(lines) + "\n")


def read(path):
    outcomes = collections.OrderedDict()
    statement = got = None
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("#") or not line:
            continue
        if line.startswith("    "):
            outcomes[statement, line[4:]] = got
        elif line.startswith("  "):
            got = line[2:]
        else:
            statement = line
    return outcomes


def check(got):
    wanted, known = read(RESULT), read(KNOWN)
    bad = 0
    for key in list(wanted) + [key for key in got if key not in wanted]:
        expected = known.get(key, wanted.get(key, "not recorded"))
        if got.get(key, "not run") != expected:
            bad += 1
            print(f"{key[0]}\n    as {key[1]}\n    - {expected}\n    + {got.get(key, 'not run')}")
    stale = [key for key in known if key not in wanted]
    print(f"{len(got)} cells, {len(known)} known differences, {bad + len(stale)} unexpected")
    return bad + len(stale)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["check", "record", "note"])
    parser.add_argument("target")
    options = parser.parse_args()
    start = time.monotonic()
    got = run(options.target)
    print(f"{len(got)} cells in {time.monotonic() - start:.1f} s")
    if options.action == "record":
        write(RESULT, got)
    elif options.action == "note":
        wanted = read(RESULT)
        write(KNOWN, collections.OrderedDict((key, value) for key, value in got.items() if wanted.get(key) != value))
    else:
        sys.exit(check(got) > 0)


if __name__ == "__main__":
    main()
