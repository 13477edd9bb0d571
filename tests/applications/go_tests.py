"""Tests that Go modules bring along, run unchanged from the versions that go/go.mod names."""
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = "applications_go"
PACKAGES = {"driver": "github.com/go-sql-driver/mysql"}
# Wants an address in the network that does not answer.
SKIPPED = "TestConnectorReturnsTimeout"


def command(name):
    return ["go", "test", "-C", HERE / "go", "-vet=off", "-count=1", "-skip", SKIPPED, "-json", PACKAGES[name]]


def variables(host, port):
    """Where the driver's tests find their server."""
    return {"MYSQL_TEST_ADDR": f"{host}:{port}", "MYSQL_TEST_PROT": "tcp", "MYSQL_TEST_USER": "root", "MYSQL_TEST_PASS": "",
            "MYSQL_TEST_DBNAME": SCHEMA, "MYSQL_TEST_CONCURRENT": "1"}


def keep(environment):
    """The outcomes of the tests that go test's log tells of, and what those printed that failed."""
    printed = {}
    with open(environment["APPLICATION_LOG"], errors="replace") as log, open(environment["APPLICATION_OUTCOMES"], "w") as outcomes, \
            open(environment["APPLICATION_FAILURES"], "w") as failures:
        for line in log:
            event = json.loads(line) if line.startswith("{") else {}
            test, action = event.get("Test"), event.get("Action")
            if test and action == "output":
                printed[test] = printed.get(test, "") + event["Output"]
            elif test and action in ("pass", "fail", "skip"):
                outcome = {"pass": "passed", "fail": "failed", "skip": "skipped"}[action]
                outcomes.write(f"{outcome}\t{test}\n")
                if action == "fail":
                    failures.write(f"=== failed\t{test}\n{printed.get(test, '')}\n")
