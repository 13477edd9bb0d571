"""Kept results over real connections: what is served is what was computed, in every form of the protocol, and Qcache_hits counts as in
origin 000 (the Tuningathon's six queries, and what its three scripts make of them).

    run.py HOST:PORT
"""
import pathlib
import sys

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "differential"))
from outcome import Session  # noqa: E402

PAGE = """CREATE TABLE page (page_id INT UNSIGNED PRIMARY KEY AUTO_INCREMENT, page_namespace INT, page_title VARBINARY(255),
    page_is_redirect TINYINT UNSIGNED, page_touched BINARY(14), page_len INT, KEY (page_namespace, page_title))"""
REVISION = """CREATE TABLE revision (rev_id INT UNSIGNED PRIMARY KEY AUTO_INCREMENT, rev_page INT UNSIGNED, rev_user INT UNSIGNED,
    rev_timestamp BINARY(14), KEY (rev_page), KEY (rev_user, rev_timestamp))"""
NUMBERS = "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 900)"
QUERIES = [
    "SELECT /* Q1 */ COUNT(*) FROM page p JOIN revision r ON p.page_id = r.rev_page WHERE p.page_namespace = 0 AND r.rev_user = 0",
    "SELECT /* Q2 */ COUNT(*) FROM page p JOIN revision r ON p.page_id = r.rev_page WHERE p.page_namespace = 0 AND r.rev_user = 0"
    " AND p.page_touched > DATE_FORMAT(NOW() - INTERVAL 1 YEAR, '%Y0101000000')",
    "SELECT /* Q3 */ page_title, page_touched FROM page WHERE page_namespace = 0 ORDER BY page_touched DESC, page_id LIMIT 10",
    "SELECT /* Q4 */ rev_user, COUNT(*) AS c FROM revision GROUP BY rev_user ORDER BY c DESC, rev_user",
    "SELECT /* Q5 */ SUBSTRING(rev_timestamp, 1, 6) AS m, COUNT(*) FROM revision GROUP BY m ORDER BY m",
]
RESET, FLUSH = "RESET /* Q0 */ QUERY CACHE", "FLUSH /* Q0_rewrite */ QUERY CACHE"


class Server:
    def __init__(self, target):
        self.host, _, port = target.partition(":")
        self.port = int(port)

    def connect(self, **options):
        return pymysql.connect(host=self.host, port=self.port, user="root", **options)


def ask(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall(), [column[:2] for column in cursor.description or ()]


def hits(connection):
    return int(ask(connection, "SHOW GLOBAL STATUS LIKE 'Qcache_hits'")[0][0][1])


def prepare(root):
    for statement in (
        "SET GLOBAL query_cache_size = 67108864", "SET GLOBAL query_cache_limit = 16777216", "DROP DATABASE IF EXISTS results",
        "CREATE DATABASE results", "USE results", PAGE, REVISION,
        f"INSERT INTO page SELECT n, n % 2, CONCAT('page ', n), n % 7 = 0, CONCAT(2000 + n % 40, '0405060708'), n FROM ({NUMBERS} SELECT * FROM r) d",
        f"INSERT INTO revision (rev_page, rev_user, rev_timestamp) SELECT n, n % 5, CONCAT(2000 + n % 40, '0405060708') FROM ({NUMBERS} SELECT * FROM r) d",
        *["INSERT INTO revision (rev_page, rev_user, rev_timestamp) SELECT rev_page, rev_user, rev_timestamp FROM revision"] * 6, "COMMIT",
    ):
        ask(root, statement)


def run_of_queries(session, first, between=(), second=None):
    """What a run of Q0 to Q5 answers, with autocommit off."""
    ask(session, first)
    answers = []
    for number, query in enumerate(QUERIES, start=1):
        for statement in between if number == 1 else ():
            ask(session, statement)
        answers.append(ask(session, second if number == 2 and second else query))
    return answers


def tuningathon(server, root):
    literal = QUERIES[1].replace("DATE_FORMAT(NOW() - INTERVAL 1 YEAR, '%Y0101000000')", "'20190101000000'")
    expected = None
    for rules, name, expects, arguments in (
        ("5.5", "without a script", 0, (RESET,)),
        ("5.5", "q0", 3, (FLUSH,)),
        ("5.5", "q0q1", 4, (FLUSH, ("START /* Q1_workaround */ TRANSACTION",))),
        ("5.5", "q0q1q2", 5, (FLUSH, ("START /* Q1_workaround */ TRANSACTION",), literal)),
        ("NONE", "without a script, under the new rules", 0, (RESET,)),
        ("NONE", "q0, under the new rules", 5, (FLUSH,)),
    ):
        ask(root, f"SET GLOBAL query_cache_compatibility = '{rules}'")
        ask(root, "RESET QUERY CACHE")
        for time in range(3):
            session = server.connect(database="results", autocommit=False)
            before = hits(root)
            answers = run_of_queries(session, *arguments)
            rose = hits(root) - before
            session.close()
            # What is cheap is kept when it is seen again.
            if time == 2:
                assert rose == expects, f"{name}: Qcache_hits rose by {rose}, not by {expects}"
            if len(arguments) < 3:
                expected = expected or answers
                assert answers == expected, name
        print(f"{name}: Qcache_hits +{expects} a run")


def forms(server, root):
    ask(root, "SET GLOBAL query_cache_compatibility = '5.5'")
    queries = [
        "SELECT * FROM revision", "SELECT * FROM revision WHERE rev_id < 0", "SELECT rev_id FROM revision LIMIT 100",
        "SELECT REPEAT('x', 100000), rev_id FROM revision LIMIT 20", "SELECT SQL_CACHE COUNT(*) FROM revision",
    ]
    for name, options in (
        ("plain", {}), ("TLS", {"ssl": {"check_hostname": False, "verify_mode": False}}),
        ("latin1", {"charset": "latin1"}), ("several statements", {"client_flag": pymysql.constants.CLIENT.MULTI_STATEMENTS}),
    ):
        session = server.connect(database="results", autocommit=True, **options)
        for query in queries:
            ask(session, "SET query_cache_type = OFF")
            computed = ask(session, query)
            ask(session, "SET query_cache_type = DEFAULT")
            ask(session, query)
            before = hits(root)
            assert ask(session, query) == computed, f"{name}: {query}"
            assert hits(root) == before + 1, f"{name}: {query} was not served"
            ask(session, "SET query_cache_type = DEMAND")
            before = hits(root)
            assert ask(session, query) == computed
            assert hits(root) - before == ("SQL_CACHE" in query), f"{name}: {query} on demand"
        session.close()
        print(f"{name}: {len(queries)} results")


def executions(target, root):
    """Prepared statements, whose rows come in the binary protocol."""
    session = Session(target, "results_binary")
    queries = [
        ("SELECT rev_user, COUNT(*), ? FROM results.revision GROUP BY rev_user ORDER BY rev_user", [7]),
        ("SELECT rev_user, COUNT(*), ? FROM results.revision GROUP BY rev_user ORDER BY rev_user", [7.5]),
        ("SELECT * FROM results.revision WHERE rev_timestamp > ?", ["20100405060708"]),
        ("SELECT REPEAT('x', 100000), rev_id FROM results.revision WHERE rev_user < ? LIMIT 20", [9]),
    ]
    for query, values in queries:
        session.run("SET query_cache_type = OFF")
        computed = session.run(query, values)
        session.run("SET query_cache_type = DEFAULT")
        for time in range(3):
            before = hits(root)
            assert session.run(query, values) == computed and computed[0] == "rows", query
            assert hits(root) - before == (time > 0), f"{query}: hit {time}"
    session.run("DROP DATABASE results_binary")
    session.close()
    print(f"prepared: {len(queries)} results")


def main():
    server = Server(sys.argv[1])
    root = server.connect(autocommit=True)
    prepare(root)
    forms(server, root)
    executions(sys.argv[1], root)
    tuningathon(server, root)
    ask(root, "DROP DATABASE results")
    status = dict(ask(root, "SHOW GLOBAL STATUS LIKE 'Qcache%'")[0])
    assert status["Qcache_queries_in_cache"] == "0" and int(status["Qcache_free_memory"]) == 67108864, status
    print("results: ok")


if __name__ == "__main__":
    main()
