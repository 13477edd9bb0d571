"""Runs the driver matrix against a server: `run.py HOST:PORT [--plugins native,sha2]`. See README.md beside it."""
import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target")) / "drivers"
CONNECTOR_J = "9.4.0"
# Rows of types.json that a driver is known to fail, with every account and with and without TLS; may only shrink.
KNOWN_FAILURES = {}


def sh(*command, **options):
    return subprocess.run(command, check=True, **options)


def accounts(host, port, plugins):
    import pymysql

    connection = pymysql.connect(host=host, port=port, user="root", autocommit=True)
    cursor = connection.cursor()
    cursor.execute("CREATE DATABASE IF NOT EXISTS drivers")
    made = []
    for plugin in plugins:
        name, full = plugin, {"native": "mysql_native_password", "sha2": "caching_sha2_password"}[plugin]
        cursor.execute(f"DROP USER IF EXISTS '{name}'@'%'")
        cursor.execute(f"CREATE USER '{name}'@'%' IDENTIFIED WITH {full} BY 'secret'")
        cursor.execute(f"GRANT ALL ON *.* TO '{name}'@'%'")
        made.append(f"{name}:{full}")
    connection.close()
    return ",".join(made)


def install():
    """Fetches the drivers that are not Python packages into the target folder."""
    node, jar = TARGET / "node", TARGET / f"mysql-connector-j-{CONNECTOR_J}.jar"
    node.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "round_trip.js"):
        (node / name).write_bytes((HERE / "node" / name).read_bytes())
    if not (node / "node_modules" / "mysql2").exists():
        sh("npm", "install", "--no-audit", "--no-fund", "--silent", cwd=node)
    if not jar.exists():
        sh("mvn", "-q", "-B", "dependency:copy", f"-Dartifact=com.mysql:mysql-connector-j:{CONNECTOR_J}",
           f"-DoutputDirectory={TARGET}")
    return node, jar


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--plugins", default="native,sha2")
    parser.add_argument("--only")
    options = parser.parse_args()
    host, port = options.target.split(":")
    node, jar = install()
    rows = json.loads((HERE / "types.json").read_text(encoding="utf8"))
    table = TARGET / "types.tsv"
    table.write_text("".join(f"{kind}\t{literal}\n" for kind, literal in rows), encoding="utf8")
    environment = dict(os.environ, DB_HOST=host, DB_PORT=port, DB_TYPES=str(HERE / "types.json"),
                       DB_ACCOUNTS=accounts(host, int(port), options.plugins.split(",")))
    programs = {
        "pymysql": [sys.executable, HERE / "python_driver.py", "pymysql"],
        "mysqlclient": [sys.executable, HERE / "python_driver.py", "mysqlclient"],
        "connector": [sys.executable, HERE / "python_driver.py", "connector"],
        "go": ["go", "run", "-C", HERE / "go", "."],
        "node": ["node", node / "round_trip.js"],
        "java": ["java", "-cp", jar, HERE / "java" / "RoundTrip.java", table],
    }
    failed = []
    for name, command in programs.items():
        if options.only and name not in options.only.split(","):
            continue
        run = subprocess.run([str(word) for word in command], env=environment, timeout=600, capture_output=True, text=True)
        print(run.stdout, run.stderr, sep="", end="", flush=True)
        lines = [line for line in run.stdout.splitlines() if not line.endswith(" failed")]
        unknown = [line for line in lines if not any(known in line for known in KNOWN_FAILURES.get(name, []))]
        if run.returncode and (unknown or not lines):
            failed.append(name)
    if failed:
        sys.exit(f"drivers that failed: {', '.join(failed)}")


main()
