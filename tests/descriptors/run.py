"""A server that may have few file descriptors: 300 tables, 100 clients at a time, kill -9 in between.
Those that find no descriptor are refused or wait; nothing spins, fills the error log, stops or is lost, and all works when they are gone.

    run.py --binary B [--limit N]"""
import argparse
import os
import pathlib
import resource
import socket
import sys
import time

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_server import Server  # noqa: E402

TABLES, CLIENTS, ROWS = 300, 100, 3
OPTIONS = ("--innodb-buffer-pool-size=67108864", "--innodb-redo-log-capacity=8388608")
REFUSED, NO_DESCRIPTOR = 1040, 1030
CONNECTIONS_MIN = 10
BUSY_MAX = 0.3


def need(holds, what):
    print(("ok     " if holds else "FAILED ") + what, flush=True)
    if not holds:
        raise SystemExit(1)


def connect(server, timeout=30):
    return pymysql.connect(host="127.0.0.1", port=server.port, user="root", autocommit=True, connect_timeout=timeout, read_timeout=60,
                           ssl_disabled=True)


def rows(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def open_files(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def need_idle(server, beside):
    """The server does next to nothing for the next two seconds."""
    before = worked_seconds(server)
    time.sleep(2)
    busy = (worked_seconds(server) - before) / 2
    need(busy < BUSY_MAX, f"{beside} the server is busy for {busy:.0%}")


def worked_seconds(server):
    with open(f"/proc/{server.process.pid}/stat") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def crowd(server):
    """As many clients as get in, and what the others were told."""
    inside, outside = [], []
    for _ in range(CLIENTS):
        try:
            inside.append(connect(server, timeout=1))
        except pymysql.MySQLError as error:
            outside.append(error.args[0])
    return inside, outside


def check_tables(connection, first, added):
    for number in range(first, TABLES, 7):
        found = rows(connection, f"SELECT COUNT(*), SUM(a) FROM d.t{number}")
        expected = sum(number * row for row in range(ROWS)) + added * number
        need_quietly(found == [(ROWS + added, expected)], f"table {number}: {found}, not {expected}")


def need_quietly(holds, what):
    if not holds:
        need(False, what)


def check_crowd(server, limit):
    inside, outside = crowd(server)
    need(len(inside) >= CONNECTIONS_MIN and len(inside) + len(outside) == CLIENTS, f"{len(inside)} of {CLIENTS} clients got in")
    need(set(outside) <= {REFUSED}, f"the others were told so: {set(outside)}")
    need(open_files(server) < limit, f"{open_files(server)} descriptors of {limit} are in use")
    # While they stay, everything that they ask for works.
    for number, client in enumerate(inside):
        check_tables(client, number % 7, 0)
        if number < 3:
            rows(client, f"CREATE TABLE d.made{number} (a INT)")
            rows(client, f"ALTER TABLE d.made{number} ADD KEY (a)")
            rows(client, f"TRUNCATE d.made{number}")
            rows(client, f"DROP TABLE d.made{number}")
    for number in range(TABLES):
        rows(inside[number % len(inside)], f"INSERT INTO d.t{number} VALUES ({ROWS}, {number})")
    need_idle(server, "beside idle clients")
    for client in inside:
        client.close()


def check_flood(server, limit):
    """Sockets that take all descriptors and say nothing, so that some wait to be accepted."""
    flood = []
    for _ in range(limit + 50):
        try:
            flood.append(socket.create_connection(("127.0.0.1", server.port), timeout=1))
        except OSError:
            break
    need_idle(server, f"under a flood of {len(flood)} sockets")
    for opened in flood:
        opened.close()


def check_none(server, limit):
    """No descriptor at all: neither for a client nor for a new table. Those that are open are used on."""
    connection = connect(server)
    rows(connection, "CREATE TABLE IF NOT EXISTS d.u (a INT)")
    rows(connection, "CREATE TABLE d.x (a INT)")
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (3, limit))
    outcomes = []
    for statement in ("CREATE TABLE d.v (a INT)", "RENAME TABLE d.u TO d.w", "TRUNCATE d.w", "INSERT INTO d.w VALUES (1)",
                      "DROP TABLE d.x"):
        try:
            rows(connection, statement)
            outcomes.append(0)
        except pymysql.MySQLError as error:
            outcomes.append(error.args[0])
    # A new name touches no file.
    need(set(outcomes) <= {0, NO_DESCRIPTOR} and outcomes[:2] == [NO_DESCRIPTOR, 0], f"without descriptors statements end with {outcomes}")
    waiting = [socket.socket() for _ in range(5)]
    for client in waiting:
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", server.port))
    before = worked_seconds(server)
    time.sleep(2)
    busy = (worked_seconds(server) - before) / 2
    need(busy < BUSY_MAX, f"with clients that cannot be accepted the server is busy for {busy:.0%}")
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
    for client in waiting:
        client.settimeout(10)
        need_quietly(client.recv(1), "a client that waited is greeted")
        client.close()
    rows(connection, "CREATE TABLE d.v (a INT)")
    rows(connection, "INSERT INTO d.v VALUES (1)")
    if outcomes[-1] == 0:
        rows(connection, "CREATE TABLE d.x (a INT)")
    connection.close()
    need("cannot be accepted" in server.log(), "those that waited are greeted, and the error log tells of it")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--limit", type=int, default=96)
    arguments = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    server = Server(arguments.binary, OPTIONS)
    start = lambda: started_with(server, arguments.limit, hard)
    try:
        start()
        connection = connect(server)
        limit, kept = rows(connection, "SELECT @@open_files_limit, @@innodb_open_files")[0]
        need(limit == arguments.limit and kept < limit / 2, f"the server knows its limit: {limit}, and keeps {kept} files open")
        rows(connection, "CREATE DATABASE d")
        for number in range(TABLES):
            rows(connection, f"CREATE TABLE d.t{number} (id INT PRIMARY KEY, a INT, KEY (a))")
            rows(connection, f"INSERT INTO d.t{number} VALUES " + ", ".join(f"({row}, {number * row})" for row in range(ROWS)))
        need(open_files(server) < limit, f"{TABLES} tables: {open_files(server)} descriptors are in use")
        connection.close()
        check_crowd(server, limit)
        server.kill()
        start()
        need(True, "a start after kill -9")
        connection = connect(server)
        check_tables(connection, 0, 1)
        connection.close()
        check_none(server, limit)
        check_flood(server, limit)
        until = time.monotonic() + 20
        connection = None
        while connection is None and time.monotonic() < until:
            try:
                connection = connect(server, timeout=2)
            except pymysql.MySQLError:
                time.sleep(0.2)
        need(connection is not None, "clients get in again")
        check_tables(connection, 0, 1)
        rows(connection, "DROP DATABASE d")
        connection.close()
        told = [line for line in server.log().splitlines() if "file descriptors are in use" in line or "cannot be accepted" in line]
        need(1 <= len(told) <= 6, f"the error log tells of it in {len(told)} lines")
        server.stop()
        need(True, "a clean end")
    except BaseException:
        print(server.log()[-3000:], file=sys.stderr)
        raise
    finally:
        if server.process and server.process.poll() is None:
            server.kill()
        server.remove()


def started_with(server, limit, hard):
    """The limit is inherited; this process needs more."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    server.preexec = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    return server.start()


if __name__ == "__main__":
    main()
