"""A server under test: fills its schema, runs a query within a time limit, times it by wall or by its own CPU time."""
import pathlib
import socket
import threading
from dataclasses import dataclass

import pymysql
from pymysql.constants import FIELD_TYPE

import clocks
import generate

HERE = pathlib.Path(__file__).resolve().parent
# How long a server may go on with a query behind its KILL.
KILL_SECONDS_MAX = 10
# Wall seconds that are waited for a second of CPU time on a machine that has much else to do.
WALL_OF_CPU = 10


@dataclass
class Answer:
    """What came back: columns as (name, type, decimals), rows as the texts that were sent, or why there are none."""
    header: tuple = ()
    doubles: tuple = ()
    rows: tuple = ()
    error: str = ""
    seconds: float = 0.0
    late: bool = False


class Server:
    def __init__(self, name, address, clock="wall"):
        self.name, (host, port) = name, address.split(":")
        self.host, self.port, self.schema = host, int(port), None
        self.connection = None
        self.clock = clocks.cpu_of(clocks.listening_process(self.port)) if clock == "cpu" else clocks.wall
        self.wall_of_second = WALL_OF_CPU if clock == "cpu" else 1

    def connect(self):
        # Without converters a DECIMAL keeps its zeros and every value is what the server wrote.
        return pymysql.connect(host=self.host, port=self.port, user="root", database=self.schema, charset="utf8mb4", autocommit=True,
                               local_infile=True, conv={})

    def statement(self, text):
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(text)
            return cursor.fetchall()

    def use(self, parent, scale, again=False):
        """Makes the schema of the scale the current one and fills it unless it has these very rows."""
        schema = f"queries_{scale:g}".replace(".", "_")
        try:
            self.schema = schema
            if not again and self.statement("SELECT version FROM loaded") == ((generate.version(),),):
                return
        except pymysql.err.MySQLError:
            # No such schema, or one that was left half full.
            pass
        self.schema = None
        self.statement(f"DROP DATABASE IF EXISTS {schema}")
        self.statement(f"CREATE DATABASE {schema}")
        self.schema = schema
        self.load(generate.files_at(parent, scale))

    def load(self, folder):
        for path in sorted((HERE / "schema").glob("*.sql")):
            text = "\n".join(line for line in path.read_text(encoding="utf8").splitlines() if not line.startswith("--"))
            for statement in text.split(";"):
                if statement.strip():
                    self.statement(statement)
        for table in generate.TABLES:
            self.statement(f"LOAD DATA LOCAL INFILE '{folder / table}.tsv' INTO TABLE {table} CHARACTER SET utf8mb4")
            rows, lines = int(self.statement(f"SELECT COUNT(*) FROM {table}")[0][0]), (folder / f"{table}.tsv").read_bytes().count(b"\n")
            if rows != lines:
                raise RuntimeError(f"{self.name} has {rows} rows of {table} of {lines}")
        self.statement("ANALYZE TABLE " + ", ".join(generate.TABLES))
        self.statement("CREATE TABLE loaded (version CHAR(16) PRIMARY KEY)")
        self.statement(f"INSERT INTO loaded VALUES ('{generate.version()}')")

    def drop(self):
        schema, self.schema = self.schema, None
        self.statement(f"DROP DATABASE IF EXISTS {schema}")

    def run(self, text, limit_seconds):
        """The answer of a query that is killed when it takes longer than the limit, which is wall time by any clock."""
        if self.connection is None:
            self.connection = self.connect()
        cursor, late = self.connection.cursor(), threading.Event()

        def watch():
            if done.wait(limit_seconds):
                return
            late.set()
            try:
                self.statement(f"KILL QUERY {identity}")
            except pymysql.err.MySQLError as error:
                print(f"{self.name} refused KILL QUERY: {error}", flush=True)
            if not done.wait(KILL_SECONDS_MAX):
                print(f"{self.name} did not obey KILL QUERY within {KILL_SECONDS_MAX} s", flush=True)
                self.connection._sock.shutdown(socket.SHUT_RDWR)

        identity, done = self.connection.thread_id(), threading.Event()
        watcher = threading.Thread(target=watch)
        watcher.start()
        start = self.clock()
        try:
            cursor.execute(text)
            answer = Answer(tuple((column[0], column[1], column[5]) for column in cursor.description),
                            tuple(place for place, column in enumerate(cursor.description) if column[1] in (FIELD_TYPE.DOUBLE, FIELD_TYPE.FLOAT)),
                            cursor.fetchall())
        except pymysql.err.MySQLError as error:
            answer = Answer(error=f"error {error.args[0]}: {error.args[1] if len(error.args) > 1 else ''}")
        answer.seconds = self.clock() - start
        done.set()
        watcher.join()
        answer.late = late.is_set()
        if answer.late:
            answer.seconds = max(answer.seconds, limit_seconds)
            # A KILL that came too late would hit the next query.
            self.connection._force_close()
            self.connection = None
        return answer

    def seconds(self, text, repeats, limit_seconds):
        """Mean of some runs in a row, so that a query under a millisecond is not all noise of the client."""
        if repeats == 1:
            return self.run(text, limit_seconds).seconds
        with self.connection.cursor() as cursor:
            start = self.clock()
            for _ in range(repeats):
                cursor.execute(text)
                cursor.fetchall()
            return (self.clock() - start) / repeats

    def explain(self, text):
        return self.statement(f"EXPLAIN FORMAT=TREE {text}")[0][0]
