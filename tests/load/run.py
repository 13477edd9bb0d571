"""Many connections at once: `run.py --binary B [--connections 2000]`. Starts a server of its own.

Opens that many connections, runs statements on all of them in turn and all at once, with row locks among them, looks at
the server's number of threads, and ends the server by SIGTERM while all are open: every client must be told (error 1053
or the end of the connection), the server must end with code 0, and the next start must find what was committed."""
import argparse
import pathlib
import resource
import sys
import time

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_server import running

THREADS_MAX = 200


def connect(port):
    return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True, ssl_disabled=True,
                           connect_timeout=60, read_timeout=120)


def threads(server):
    return len(list(pathlib.Path(f"/proc/{server.process.pid}/task").iterdir()))


def one(connection, sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def send(connection, sql):
    """Sends a query without waiting for its answer."""
    connection._execute_command(pymysql.constants.COMMAND.COM_QUERY, sql)


def receive(connection):
    result = pymysql.connections.MySQLResult(connection)
    result.read()
    return result.rows if result.has_next is not None and result.rows is not None else result.affected_rows


def statements_in_turn(connections):
    for number, connection in enumerate(connections):
        assert one(connection, f"SELECT {number} + 1") == ((number + 1,),)
        one(connection, f"INSERT INTO many.t VALUES ({number}, 0, REPEAT('x', 50))")


def statements_at_once(connections):
    """Every connection has a statement running at the same time."""
    rounds = ["UPDATE many.t SET b = b + 1 WHERE a = {0}", "SELECT b FROM many.t WHERE a = {0}",
              "UPDATE many.t SET b = b + 1 WHERE a = {1}", "SELECT COUNT(*) FROM many.t"]
    for sql in rounds:
        for number, connection in enumerate(connections):
            send(connection, sql.format(number, number % 10))
        for connection in connections:
            receive(connection)
    total = one(connections[0], "SELECT SUM(b) FROM many.t")[0][0]
    assert total == 2 * len(connections), total


def blocked_at_once(connections, server):
    """A fifth of the connections wait for one row lock; the others go on meanwhile."""
    holder, waiting = connections[0], connections[1::5]
    one(holder, "BEGIN")
    one(holder, "UPDATE many.t SET b = 0 WHERE a = 5")
    for connection in waiting:
        send(connection, "UPDATE many.t SET b = b + 1 WHERE a = 5")
    time.sleep(0.5)
    blocked_threads = threads(server)
    start = time.monotonic()
    for number, connection in enumerate(connections):
        if number % 5 == 2:
            assert one(connection, f"SELECT {number}") == ((number,),)
    others_seconds = time.monotonic() - start
    one(holder, "COMMIT")
    for connection in waiting:
        receive(connection)
    assert one(holder, "SELECT b FROM many.t WHERE a = 5") == ((len(waiting),),)
    return len(waiting), blocked_threads, others_seconds


def stop(connections, server):
    start = time.monotonic()
    server.stop(timeout_seconds=60)
    seconds = time.monotonic() - start
    for connection in connections:
        try:
            one(connection, "SELECT 1")
            raise AssertionError("a statement was answered by a server that had ended")
        except pymysql.err.Error:
            pass
    return seconds


def judge(server, count):
    admin = connect(server.port)
    one(admin, "CREATE DATABASE many")
    one(admin, "CREATE TABLE many.t (a INT PRIMARY KEY, b INT NOT NULL, c VARCHAR(60))")
    start = time.monotonic()
    connections = [connect(server.port) for _ in range(count)]
    print(f"{len(connections)} connections in {time.monotonic() - start:.2f} s, {threads(server)} threads")
    try:
        connect(server.port)
        raise AssertionError("a connection above max_connections was accepted")
    except pymysql.err.OperationalError as error:
        assert error.args[0] == 1040, error
    statements_in_turn(connections)
    start = time.monotonic()
    statements_at_once(connections)
    seen = threads(server)
    print(f"4 statements on each at once in {time.monotonic() - start:.2f} s, {seen} threads")
    assert seen <= THREADS_MAX, f"{seen} threads"
    waiting, blocked_threads, seconds = blocked_at_once(connections, server)
    print(f"{waiting} wait for a row ({blocked_threads} threads) while others are served in {seconds:.2f} s")
    print(f"clean end with all open in {stop([admin, *connections], server):.2f} s")
    server.start()
    assert one(connect(server.port), "SELECT COUNT(*) FROM many.t") == ((count,),)
    server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--connections", type=int, default=2000)
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, options.connections + 200), hard))
    # One more than max_connections is let in, because root may: the administrator's.
    server_options = [f"--max-connections={options.connections}", "--innodb-buffer-pool-size=256M"]
    with running(options.binary, server_options) as server:
        judge(server, options.connections)
    print("passed")


if __name__ == "__main__":
    main()
