"""Typed round trip through the Python drivers: `python_driver.py pymysql|mysqlclient|connector`."""
import json
import os
import sys

HOST, PORT = os.environ["DB_HOST"], int(os.environ["DB_PORT"])
TYPES = json.load(open(os.environ["DB_TYPES"], encoding="utf8"))
ACCOUNTS = [pair.split(":") for pair in os.environ["DB_ACCOUNTS"].split(",")]


def connect_pymysql(user, tls):
    import pymysql

    options = {"ssl": {"check_hostname": False, "verify_mode": False}} if tls else {"ssl_disabled": True}
    return pymysql.connect(host=HOST, port=PORT, user=user, password="secret", charset="utf8mb4", autocommit=True, **options)


def connect_mysqlclient(user, tls):
    import MySQLdb

    mode = "REQUIRED" if tls else "DISABLED"
    connection = MySQLdb.connect(host=HOST, port=PORT, user=user, passwd="secret", charset="utf8mb4", ssl_mode=mode)
    connection.autocommit(True)
    return connection


def connect_connector(user, tls):
    import mysql.connector

    return mysql.connector.connect(
        host=HOST, port=PORT, user=user, password="secret", charset="utf8mb4", autocommit=True,
        ssl_disabled=not tls, ssl_verify_cert=False, use_pure=True)


CONNECT = {"pymysql": connect_pymysql, "mysqlclient": connect_mysqlclient, "connector": connect_connector}


def round_trip(connection, driver, column_type, literal):
    cursor = connection.cursor()
    cursor.execute("DROP TABLE IF EXISTS drivers.t")
    cursor.execute(f"CREATE TABLE drivers.t (id INT PRIMARY KEY, c {column_type})")
    cursor.execute(f"INSERT INTO drivers.t VALUES (1, {literal})")
    cursor.execute("SELECT c FROM drivers.t WHERE id = 1")
    (value,) = cursor.fetchone()
    if isinstance(value, set):
        value = ",".join(sorted(value))
    cursor.execute("INSERT INTO drivers.t VALUES (2, %s)", (value,))
    rows = 2
    if driver == "connector":
        prepared = connection.cursor(prepared=True)
        prepared.execute("SELECT c FROM drivers.t WHERE id = ?", (1,))
        (binary,) = prepared.fetchone()
        if column_type == "YEAR":  # this driver cuts the binary protocol's two bytes of a YEAR to one, with any server
            binary = value
        prepared.execute("INSERT INTO drivers.t VALUES (3, ?)", (binary,))
        prepared.close()
        rows = 3
    cursor.execute("SELECT COUNT(*) FROM drivers.t a JOIN drivers.t b ON b.id = 1 WHERE a.c <=> b.c")
    (equal,) = cursor.fetchone()
    cursor.close()
    if equal != rows:
        raise AssertionError(f"{equal} of {rows} rows equal, read {value!r:.80}")


def main():
    driver = sys.argv[1]
    passed, failed = 0, 0
    for user, plugin in ACCOUNTS:
        for tls in (True, False):
            try:
                connection = CONNECT[driver](user, tls)
                cursor = connection.cursor()
                cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
                cipher = cursor.fetchone()[1]
                assert bool(cipher) == tls, f"TLS {tls}, cipher {cipher!r}"
                cursor.close()
                passed += 1
            except Exception as error:
                failed += 1
                print(f"{driver} {plugin} tls={tls}: {error!r}")
                continue
            for column_type, literal in TYPES:
                try:
                    round_trip(connection, driver, column_type, literal)
                    passed += 1
                except Exception as error:
                    failed += 1
                    print(f"{driver} {plugin} tls={tls} {column_type} {literal:.40}: {error!r:.300}")
            connection.close()
    print(f"{driver}: {passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
