"""The scripts that MySQL Proxy ships, from its own folder, each once through the original and once through ours: what differs.

    shipped.py --binary IRUKA --original .../bin/mysql-proxy HOST:PORT [NAMES...]

To be run by hand. HOST:PORT is a server whose root has no password; the same stands behind both.
"""
import argparse
import difflib
import pathlib
import re
import traceback

from run import Session

# Statements that some of the scripts look for, and enough of the others.
SESSION = """timeout: 3
options: --lua-path={lua}/?.lua
---
a connect db={db}
a query CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, c VARCHAR(20))
a query INSERT INTO t (c) VALUES ('one'), ('two')
a query SELECT id, c FROM t ORDER BY id
a query SELECT c FROM t WHERE id = 2
a query UPDATE t SET c = 'three' WHERE id = 1
a query SELECT 1/0
a query SELECT nothing
a query BEGIN
a query DELETE FROM t WHERE id = 1
a query COMMIT
a query SHOW QUERYCOUNTER
a query SHOW MYERROR
a query SELECT * FROM histogram.tables
a query SHOW TABLES
a query ls
a query who
a query SELECT id FROM t WHERE id IN (1, 2, 3)
a ping
a init_db mysql
a init_db {db}
a prepare SELECT c FROM t WHERE id = ?
a execute 2
a close_statement
b connect db={db}
b query SELECT COUNT(*) FROM t
b quit
a quit
"""


# What differs from run to run: times, numbers of connections, the bytes that passwords are scrambled with.
RANDOM = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME"), (r"\b[\d.]+(us|ms)\b", "SPAN"), (r"(thread-id\s*[:=] )\d+", r"\1ID"), (r"(?m)^(    +\[)\d+\]", r"\1ID]"),
    (r"(port = |127\.0\.0\.1:)\d+", r"\1PORT"), (r'(?s)(scramble-buf  : |for challenge )".*?\\000"', r"\1BYTES"), (r"(?m)^      \d+ \| .*\| (Daemon|Sleep|Query|Binlog Dump) \|.*\n", ""),
)


def without_random(transcript):
    for pattern, stands in RANDOM:
        transcript = re.sub(pattern, stands, transcript)
    return transcript


def played(name, script, command, server, session):
    if name.startswith(("ro-", "rw-")):
        session = "backends: read-write read-write read-only\n" + session
    try:
        return without_random(Session("shipped_" + name.replace("-", "_"), command, server, session, script).play())
    except Exception as error:
        return f"play ended: {type(error).__name__}: {error}\n{traceback.format_exc(limit=-1)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--original", required=True)
    parser.add_argument("server")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    original = pathlib.Path(options.original).resolve()
    home = original.parent.parent
    host, _, port = options.server.partition(":")
    session = SESSION.replace("{lua}", str(home / "lib/mysql-proxy/lua"))
    same = 0
    scripts = sorted((home / "share/doc/mysql-proxy").glob("*.lua"))
    for script in scripts:
        name = script.stem
        if options.names and name not in options.names:
            continue
        # What ends the play itself is shown, and is no agreement.
        theirs, ours = (
            played(name, script, command, (host, int(port)), session)
            for command in (["stdbuf", "-oL", str(original)], [str(pathlib.Path(options.binary).resolve()), "proxy"])
        )
        if theirs == ours:
            same += not ours.startswith("play ended")
            print(f"{name}: {ours}" if ours.startswith("play ended") else f"{name}: the same, {len(ours.splitlines())} lines")
            continue
        print(f"{name}: differs")
        print("".join(difflib.unified_diff(theirs.splitlines(True), ours.splitlines(True), "original", "ours", n=1)))
    print(f"{same} the same")


if __name__ == "__main__":
    main()
