"""The Tuningathon's measuring program: the six queries once each, in order, in one session without autocommit, and the seconds that each took.

    tgbench.py [HOST] [--host H] [--port P] [--socket S] [--user U] [--password W] [--database D] [--runs N]

Written anew from what the post prints. Each run is a session of its own. RESET QUERY CACHE is an error since MySQL 8.0: it is counted as
it is, and said once on standard error. `--flush` sends what the origin's first script makes of it, which keeps the results."""
import argparse
import sys
import time

try:
    # Written in C: a result of 40,000 rows costs the other one a tenth of a second.
    import MySQLdb as driver
except ImportError:
    import pymysql as driver

RESET, FLUSH = "RESET /* Q0 */ QUERY CACHE", "FLUSH /* Q0_rewrite */ QUERY CACHE"
# Blanks as in the origin: its scripts look for these texts.
QUERIES = (
    """
  SELECT /* Q1 */ COUNT(*)
    FROM page p
    JOIN revision r
      ON p.page_id = r.rev_page
   WHERE p.page_is_redirect = 0
     AND p.page_namespace = 0
     AND r.rev_user = 0""",
    """
  SELECT /* Q2 */ COUNT(*)
    FROM page p
    JOIN revision r
      ON p.page_id = r.rev_page
   WHERE p.page_is_redirect = 0
     AND p.page_namespace = 0
     AND r.rev_user = 0
     AND p.page_touched > DATE_FORMAT(NOW() - INTERVAL 1 YEAR, '%Y0101000000')""",
    """
  SELECT /* Q3 */ p.page_id
    FROM page p
    JOIN revision r
      ON p.page_id = r.rev_page
   WHERE p.page_is_redirect = 0
     AND p.page_namespace = 0
     AND r.rev_user = 0
ORDER BY p.page_touched DESC
   LIMIT 10""",
    """
  SELECT /* Q4 */ r.rev_user, COUNT(*) AS c
    FROM page p
    JOIN revision r
      ON p.page_id = r.rev_page
   WHERE p.page_is_redirect = 0
     AND p.page_namespace = 0
GROUP BY r.rev_user
ORDER BY c DESC""",
    """
  SELECT /* Q5 */ SUBSTRING(r.rev_timestamp, 1, 6), COUNT(*) AS c
    FROM page p
    JOIN revision r
      ON p.page_id = r.rev_page
   WHERE p.page_is_redirect = 0
     AND p.page_namespace = 0
GROUP BY SUBSTRING(r.rev_timestamp, 1, 6)
ORDER BY c DESC""",
)


def timed(connection, statement):
    """Seconds until the last row is here, and the rows; None in their place where the server refuses the statement."""
    cursor = connection.cursor()
    start = time.perf_counter()
    try:
        cursor.execute(statement)
        rows = cursor.fetchall()
    except driver.MySQLError as error:
        if statement not in (RESET, FLUSH):
            raise
        print(f"tgbench: {statement}: {error}", file=sys.stderr)
        rows = None
    seconds = time.perf_counter() - start
    cursor.close()
    return seconds, rows


def run(first=RESET, **address):
    """Seconds and rows of Q0 to Q5. The session begins as the DB-API says: autocommit off."""
    connection = driver.connect(**address)
    connection.autocommit(False)
    try:
        return [timed(connection, statement) for statement in (first, *QUERIES)]
    finally:
        connection.close()


def lines(seconds):
    """What the origin prints."""
    return [f"Q{number}:{value:.5f}" for number, value in enumerate(seconds)] + [f"Total:{sum(seconds):.5f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", nargs="?", metavar="HOST", help="the same as --host")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=3306)
    parser.add_argument("--socket")
    parser.add_argument("--user", default="root")
    parser.add_argument("--password", default="")
    parser.add_argument("--database", default="wikipedia")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--flush", action="store_true", help="Q0 is FLUSH QUERY CACHE")
    options = parser.parse_args()
    address = {"user": options.user, "password": options.password, "database": options.database}
    if options.socket:
        address["unix_socket"] = options.socket
    else:
        address.update(host=options.server or options.host, port=options.port)
    for number in range(options.runs):
        if number:
            print()
        results = run(FLUSH if options.flush else RESET, **address)
        print("\n".join(lines([seconds for seconds, _ in results])), flush=True)


if __name__ == "__main__":
    main()
