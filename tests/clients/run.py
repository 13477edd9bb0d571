"""Stock command-line clients against a running server: `run.py HOST:PORT [--reference HOST:PORT]`.

mysql (batch, `\\s`, `\\G`, auto-rehash, the InnoDB monitor), mysqladmin, mysqlshow, mysqldump and restore with equal checksums, mysqlslap,
sysbench. With `--reference` (a MySQL 9.7) the dump is also restored there and compared."""
import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time

import pymysql

TYPES = """
CREATE TABLE all_types (id INT PRIMARY KEY AUTO_INCREMENT, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d BIGINT UNSIGNED,
  e DECIMAL(20,5), f FLOAT, g DOUBLE, h BIT(9), i YEAR, j DATE, k TIME(3), l DATETIME(6), m TIMESTAMP NULL, n CHAR(9),
  o VARCHAR(99) COLLATE utf8mb4_bin, p BINARY(5), q VARBINARY(50), r TEXT, s LONGBLOB, t ENUM('x','y''z'), u SET('p','q'),
  v VARCHAR(20) CHARACTER SET latin1, UNIQUE KEY o (o), KEY prefix (r(10), j DESC)) COMMENT='it''s';
INSERT INTO all_types VALUES (1, -5, 60000, -70000, 18446744073709551615, -12345.67891, 1.25, -1e-300, b'101010101', 1999,
  '2026-11-21', '-12:34:56.789', '2026-11-21 01:02:03.456789', '2026-11-21 01:02:03', 'char', '鯨🐬\\n\\t\\0''"', x'0001ff',
  x'00ff27225c', 'text', REPEAT(x'00275c0a', 5000), 'y''z', 'p,q', 'café');
INSERT INTO all_types (o) VALUES (NULL), (''), ('NULL'), ('\\\\N');
CREATE TABLE no_key (a INT, b VARCHAR(10) DEFAULT 'x');
INSERT INTO no_key VALUES (1, 'a'), (1, 'a'), (NULL, NULL);
CREATE TABLE expressions (id INT PRIMARY KEY, a INT DEFAULT (1 + 2), b VARCHAR(20) DEFAULT (CONCAT('it''s ', 'x')), c INT INVISIBLE,
  CONSTRAINT positive CHECK (a > 0), CHECK (a < 1000 OR b LIKE 'it%'), CHECK (c <> 5) NOT ENFORCED);
INSERT INTO expressions (id) VALUES (1);
INSERT INTO expressions (id, a, b) VALUES (2, 7, 'seven'), (3, 9000, 'it is');
"""


class Clients:
    def __init__(self, target):
        self.host, self.port = target.split(":")
        self.failed, self.passed = 0, 0

    def program(self, name, *arguments, stdin=None, timeout=300):
        # Clients of MariaDB 11.4 and later refuse certificates that a server made itself, MySQL's as well as ours.
        command = [name, f"-h{self.host}", f"-P{self.port}", "-uroot", "--skip-ssl-verify-server-cert", *arguments]
        return subprocess.run(command, input=stdin, capture_output=True, timeout=timeout)

    def expect(self, title, result, *texts):
        out = result.stdout.decode(errors="replace")
        missing = [text for text in texts if text not in out]
        if result.returncode or missing:
            self.failed += 1
            print(f"FAILED {title}: exit {result.returncode}, missing {missing}\n{out[-1500:]}\n{result.stderr.decode()[-1500:]}")
            return False
        self.passed += 1
        return True

    def wait_for(self, query):
        """Until the query finds a row."""
        with self.connect().cursor() as cursor:
            deadline = time.monotonic() + 30
            while not cursor.execute(query):
                assert time.monotonic() < deadline, query
                time.sleep(0.02)

    def connect(self, schema=None):
        return pymysql.connect(host=self.host, port=int(self.port), user="root", database=schema, autocommit=True)


def checksums(target, schema):
    """Row counts and digests of every table's rows in primary key or full row order."""
    host, port = target.split(":")
    connection = pymysql.connect(host=host, port=int(port), user="root", database=schema, conv={}, use_unicode=False,
                                 autocommit=None)
    found = {}
    with connection.cursor() as cursor:
        cursor.execute("SET time_zone = '+00:00'")
        cursor.execute("SHOW TABLES")
        for (table,) in cursor.fetchall():
            cursor.execute(f"SELECT * FROM `{table.decode()}`")
            found[table.decode()] = sorted(repr(row) for row in cursor.fetchall())
            cursor.execute(f"SHOW CREATE TABLE `{table.decode()}`")
            found[table.decode() + " definition"] = cursor.fetchone()[1]
    connection.close()
    return found


def mysql_client(clients):
    run = clients.program
    clients.expect("mysql -e", run("mysql", "-e", "select version()"), "9.7.0-iruka")
    clients.expect("mysql \\s", run("mysql", "-e", "\\s"), "Connection id:", "Server version:", "Uptime:")
    clients.expect("mysql \\G", run("mysql", "-e", "select 1 as one\\G"), "one: 1")
    clients.expect("mysql table output", run("mysql", "-t", "-e", "select 1 as a, 'x' as b"), "| a | b |")
    clients.expect("mysql --xml", run("mysql", "--xml", "-e", "select 1 as a"), "<field name=\"a\">1</field>")
    clients.expect("mysql auto-rehash", run("mysql", "--auto-rehash", "clients", stdin=b"select count(*) from no_key;\n"), "3")
    clients.expect("mysql multi", run("mysql", "-e", "use clients; show tables; describe all_types"), "all_types")
    clients.expect("mysql --compress", run("mysql", "--compress", "-e", "select repeat('a', 20000) as r"), "aaaa")
    error = run("mysql", "-e", "select * from nowhere.nothing")
    if b"ERROR 1049" not in error.stderr and b"ERROR 1146" not in error.stderr:
        clients.failed += 1
        print("FAILED error text", error.stderr)
    clients.expect("mysqladmin ping", run("mysqladmin", "ping"), "mysqld is alive")
    clients.expect("mysqladmin status", run("mysqladmin", "status"), "Uptime:", "Threads:")
    clients.expect("mysqladmin extended", run("mysqladmin", "extended-status"), "Uptime", "Questions")
    clients.expect("mysqladmin variables", run("mysqladmin", "variables"), "version", "9.7.0-iruka")
    clients.expect("mysqladmin processlist", run("mysqladmin", "processlist"), "root")
    clients.expect("mysqlshow", run("mysqlshow"), "clients")
    clients.expect("mysqlshow schema", run("mysqlshow", "clients"), "all_types")
    clients.expect("mysqlshow table", run("mysqlshow", "clients", "all_types", "%"), "utf8mb4_bin")


def dump_and_restore(clients, target, reference):
    before = checksums(target, "clients")
    dump = clients.program("mysqldump", "--single-transaction", "--databases", "clients", "--default-character-set=utf8mb4", "--hex-blob")
    if not clients.expect("mysqldump", dump, "CREATE TABLE `all_types`", "Dump completed"):
        return
    clients.expect("mysqldump --all-databases", clients.program("mysqldump", "--all-databases", "--single-transaction"), "Dump completed")
    clients.expect("restore", clients.program("mysql", stdin=dump.stdout))
    if checksums(target, "clients") == before:
        clients.passed += 1
    else:
        clients.failed += 1
        print("FAILED restored tables differ")
    if reference:
        other = Clients(reference)
        clients.expect("restore into the reference", other.program("mysql", stdin=dump.stdout))
        there = checksums(reference, "clients")
        different = [name for name in before if there.get(name) != before[name]]
        clients.failed += len(different)
        for name in different:
            print(f"FAILED {name} differs in the reference\n  here  {str(before[name])[:800]}\n  there {str(there.get(name))[:800]}")
        back = other.program("mysqldump", "--single-transaction", "--databases", "clients", "--hex-blob")
        other.program("mysql", "-e", "drop database clients")
        clients.expect("the reference's dump restored here", clients.program("mysql", stdin=back.stdout))
        if checksums(target, "clients") != before:
            clients.failed += 1
            print("FAILED tables differ after the way through the reference")


def sysbench(clients):
    options = [f"--mysql-host={clients.host}", f"--mysql-port={clients.port}", "--mysql-user=root", "--mysql-db=sbtest", "--tables=2",
               "--table-size=2000", "--threads=4", "--time=2"]
    clients.program("mysql", "-e", "create database if not exists sbtest")
    clients.expect("sysbench prepare", subprocess.run(["sysbench", "oltp_read_write", *options, "prepare"], capture_output=True, timeout=120))
    for test in ("oltp_point_select", "oltp_read_only", "oltp_write_only", "oltp_read_write", "oltp_delete", "bulk_insert"):
        for mode in ("disable", "auto"):
            if test == "bulk_insert":
                continue
            result = subprocess.run(["sysbench", test, *options, f"--db-ps-mode={mode}", "run"], capture_output=True, timeout=120)
            clients.expect(f"sysbench {test} ps={mode}", result, "queries performed:")


def mysqlslap(clients):
    result = clients.program("mysqlslap", "--concurrency=10", "--iterations=1", "--engine=innodb", "--auto-generate-sql",
                             "--auto-generate-sql-add-autoincrement", "--auto-generate-sql-load-type=write", "--number-of-queries=2000",
                             "--create-schema=mysqlslap")
    clients.expect("mysqlslap", result, "Average number of seconds")


def local_infile(clients):
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", delete=False) as file:
        file.write("".join(f"{n}\tname {n}\t\\N\n" for n in range(5000)))
    sql = (f"use clients; create table loaded (id int primary key, name varchar(20), nothing int); "
           f"load data local infile '{file.name}' into table loaded; select count(*), sum(id), count(nothing) from loaded; drop table loaded")
    clients.expect("LOAD DATA LOCAL", clients.program("mysql", "--local-infile=1", "-N", "-e", sql), "5000\t12497500\t0")
    os.unlink(file.name)


def monitor(clients):
    """The deadlock that was found last, as the monitor has it: who waited, for which rows, who was given up."""
    clients.program("mysql", "-e", "use clients; create table knot (id int primary key, n int); insert into knot values (1, 0), (2, 0)")
    one, two = clients.connect("clients"), clients.connect("clients")

    def update(connection, row):
        try:
            connection.cursor().execute(f"update knot set n = n + 1 where id = {row}")
        except pymysql.Error as error:
            codes.append(error.args[0])

    codes = []
    for connection, row in ((one, 1), (two, 2)):
        connection.begin()
        update(connection, row)
    waiter = threading.Thread(target=update, args=(one, 2))
    waiter.start()
    clients.wait_for("select trx_id from information_schema.innodb_trx where trx_state = 'LOCK WAIT'")
    update(two, 1)
    waiter.join()
    one.rollback(), two.rollback()
    # What has happened stays as it was: the table goes, and sessions that only ask for each other's names are no transactions.
    clients.program("mysql", "-e", "drop table clients.knot")
    ask = "select get_lock('knot {}', 30)"
    one.cursor().execute(ask.format(1)), two.cursor().execute(ask.format(2))
    waiter = threading.Thread(target=one.cursor().execute, args=(ask.format(2),))
    waiter.start()
    clients.wait_for("select id from information_schema.processlist where info like 'select get_lock%'")
    time.sleep(0.2)
    try:
        two.cursor().execute(ask.format(1))
        raise AssertionError("a cycle of names is not found")
    except pymysql.Error as error:
        assert error.args[0] == 3058, error
    two.cursor().execute("select release_all_locks()")
    waiter.join()
    status = clients.program("mysql", "-e", "show engine innodb status\\G")
    victim = "(2)" if codes == [1213] else "nobody"
    clients.expect("the monitor has the latest deadlock", status, "LATEST DETECTED DEADLOCK", "(1) TRANSACTION:", "where id = 2",
                   "(2) TRANSACTION:", "where id = 1", "RECORD LOCKS", "of table `clients`.`knot`", f"WE ROLL BACK TRANSACTION {victim}")
    one.close(), two.close()


def secrets(clients):
    """Nobody sees the password in a statement that waits."""
    backup, other = clients.connect(), clients.connect()
    backup.cursor().execute("lock instance for backup")
    waiter = threading.Thread(target=other.cursor().execute, args=("create user clients_secret identified by 'S3cret'",))
    waiter.start()
    clients.wait_for("select id from information_schema.processlist where info like 'create user%'")
    listed = clients.program("mysql", "-e", "show full processlist")
    clients.expect("the process list hides a password", listed, "identified by <secret>")
    assert b"S3cret" not in listed.stdout
    backup.cursor().execute("unlock instance")
    waiter.join()
    clients.program("mysql", "-e", "drop user clients_secret")
    backup.close(), other.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--reference")
    options = parser.parse_args()
    clients = Clients(options.target)
    clients.expect("create the tables", clients.program("mysql", "--default-character-set=utf8mb4", "-e",
                   "drop database if exists clients; create database clients; use clients;" + TYPES))
    mysql_client(clients)
    local_infile(clients)
    monitor(clients)
    secrets(clients)
    dump_and_restore(clients, options.target, options.reference)
    mysqlslap(clients)
    sysbench(clients)
    print(f"{clients.passed} passed, {clients.failed} failed")
    sys.exit(clients.failed > 0)


main()
