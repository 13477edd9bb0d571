"""Phantoms under locking reads: sessions lock ranges of one table, by primary and by secondary key, look twice, and insert, delete and move rows
meanwhile. Above READ COMMITTED the second look must show what the first did, apart from what the session did itself; nobody may hang.

    phantoms.py HOST:PORT [--seconds 10] [--sessions 12]"""
import argparse
import collections
import random
import sys
import threading
import time

import pymysql

KEYS = 120
# Longer than any wait that is no hang: transactions are short.
LOCK_WAIT_SECONDS = 20


def connect(target):
    host, port = target.rsplit(":", 1)
    return pymysql.connect(host=host, port=int(port), user="root", database="phantoms", autocommit=True)


def prepare(target):
    host, port = target.rsplit(":", 1)
    connection = pymysql.connect(host=host, port=int(port), user="root", autocommit=True)
    with connection.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS phantoms")
        cursor.execute("CREATE DATABASE phantoms")
        # Rows of 700 bytes: a leaf has some twenty, so ranges reach over pages that split and merge.
        cursor.execute("CREATE TABLE phantoms.t (id INT PRIMARY KEY, k INT, u INT, s VARCHAR(700), KEY (k), UNIQUE KEY (u))")
    connection.close()


class Sessions:
    def __init__(self, target, level, seconds):
        self.target, self.level = target, level
        self.end = time.monotonic() + seconds
        self.counts, self.faults = collections.Counter(), []

    def work(self, seed):
        chance = random.Random(seed)
        connection = connect(self.target)
        cursor = connection.cursor()
        cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {self.level}")
        cursor.execute(f"SET innodb_lock_wait_timeout = {LOCK_WAIT_SECONDS}")
        while time.monotonic() < self.end and not self.faults:
            try:
                self.transaction(cursor, chance)
                self.counts["transactions"] += 1
            except pymysql.err.MySQLError as error:
                self.counts[error.args[0]] += 1
                cursor.execute("ROLLBACK")
                if error.args[0] not in (1213, 1062):
                    self.faults.append(f"{self.level}: {error.args}")
        connection.close()

    def transaction(self, cursor, chance):
        cursor.execute("BEGIN")
        column = chance.choice(["id", "k", "u"])
        low = chance.randrange(KEYS)
        high = low + chance.choice([0, 0, 3, 15])
        order = chance.choice(["", f" ORDER BY {column}", f" ORDER BY {column} DESC"])
        lock = chance.choice(["FOR UPDATE", "FOR SHARE"])
        look = f"SELECT id, {column} FROM t FORCE INDEX ({'PRIMARY' if column == 'id' else column}) " \
               f"WHERE {column} BETWEEN {low} AND {high}{order} {lock}"
        if chance.random() < 0.6:
            cursor.execute(look)
            before = sorted(cursor.fetchall())
            time.sleep(chance.random() * 0.003)
            cursor.execute(look)
            after = sorted(cursor.fetchall())
            if before != after:
                self.faults.append(f"{self.level}: {look}\n  {before}\n  {after}")
        for _ in range(chance.randrange(1, 4)):
            key = chance.randrange(KEYS)
            change = chance.random()
            if change < 0.5:
                cursor.execute(f"INSERT IGNORE INTO t VALUES ({key}, {chance.randrange(KEYS)}, {chance.randrange(KEYS)}, REPEAT('s', 700))")
            elif change < 0.75:
                cursor.execute(f"DELETE FROM t WHERE id = {key}")
            elif change < 0.9:
                cursor.execute(f"UPDATE t SET k = {chance.randrange(KEYS)} WHERE id = {key}")
            else:
                cursor.execute(f"UPDATE IGNORE t SET id = {chance.randrange(KEYS)} WHERE id = {key}")
        cursor.execute(chance.choice(["COMMIT", "COMMIT", "ROLLBACK"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--sessions", type=int, default=12)
    options = parser.parse_args()
    prepare(options.target)
    failed = False
    for level in ("REPEATABLE READ", "SERIALIZABLE"):
        sessions = Sessions(options.target, level, options.seconds)
        threads = [threading.Thread(target=sessions.work, args=(seed,)) for seed in range(options.sessions)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(f"{level}: {dict(sessions.counts)}, {len(sessions.faults)} faults")
        for fault in sessions.faults[:3]:
            print("  ", fault)
        failed |= bool(sessions.faults) or not sessions.counts["transactions"]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
