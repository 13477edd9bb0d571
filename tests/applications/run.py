"""Test suites of other projects against a server; see README.md beside it.

    run.py install                          fetches the suites into target/applications
    run.py run HOST:PORT LABEL [PART ...]   runs them (those of PARTS, or any `django/APP`, `sqlalchemy/PART`)
                                            and keeps what became of each test
    run.py compare A B                      what passes at A and not at B, and the share of A's passed tests that pass at B
    run.py causes A B                       the same tests by the last line of their failure at B
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

import go_tests
import programs

HERE = pathlib.Path(__file__).resolve().parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target")).resolve() / "applications"
PYTHON = TARGET / "venv" / "bin" / "python"
DJANGO_APPS = ["basic", "queries", "migrations", "schema", "backends", "transactions", "model_fields", "aggregation",
               "expressions", "introspection"]
# Other folders of its tests are run with what they mark as a database's business.
SQLALCHEMY_PARTS = {"mysql": "test/dialect/mysql", "suite": "test/dialect/test_suite.py"}
PARTS = [f"django/{app}" for app in DJANGO_APPS] + [f"sqlalchemy/{part}" for part in SQLALCHEMY_PARTS] + ["alembic/tests"] + \
    programs.PARTS + [f"go/{package}" for package in go_tests.PACKAGES]
# A part that takes longer hangs: what it has written until then counts.
PART_SECONDS_MAX = 3600
SHARE_WANTED = 0.97


def pinned(name):
    """The version of a package that requirements.txt asks for."""
    return re.search(rf"^{name}==(\S+)$", (HERE / "requirements.txt").read_text(), re.M | re.I).group(1)


def sources(name):
    return TARGET / f"{name.lower()}-{pinned(name)}"


def install():
    stamp = TARGET / "venv" / ".installed"
    wanted = (HERE / "requirements.txt").read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        if not PYTHON.exists():
            subprocess.run([sys.executable, "-m", "venv", TARGET / "venv"], check=True)
        subprocess.run([PYTHON, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
        stamp.write_text(wanted)
    programs.install(TARGET)
    for name in ("Django", "SQLAlchemy", "alembic"):
        if sources(name).exists():
            continue
        archives = TARGET / "archives"
        subprocess.run([PYTHON, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, "-d", archives,
                        f"{name}=={pinned(name)}"], check=True)
        subprocess.run(["tar", "xzf", archives / f"{sources(name).name}.tar.gz", "-C", TARGET], check=True)


def query(host, port, *statements):
    script = "import pymysql, sys\nc = pymysql.connect(host=sys.argv[1], port=int(sys.argv[2]), user='root').cursor()\n" \
             "for s in sys.argv[3:]:\n    c.execute(s)\n    print(c.fetchone())"
    subprocess.run([PYTHON, "-c", script, host, port, *statements], check=True)


def run_part(command, folder, environment):
    """Runs a suite's process, and says whether it came to its end."""
    try:
        with open(environment["APPLICATION_LOG"], "w") as log:
            subprocess.run([str(word) for word in command], cwd=folder, env=environment, stdout=log, stderr=log, timeout=PART_SECONDS_MAX)
        return True
    except subprocess.TimeoutExpired:
        return False


def run_django(_, app, environment):
    environment = dict(environment, PYTHONPATH=f"{HERE}:{sources('Django')}")
    command = [PYTHON, "runtests.py", "--settings", "django_settings", "--parallel", "1", "--noinput", app]
    return run_part(command, sources("Django") / "tests", environment)


def run_pytest(suite, part, environment):
    """A part of SQLAlchemy's tests or of Alembic's, which are run by its plugin."""
    host, port, report = environment["APPLICATION_HOST"], environment["APPLICATION_PORT"], pathlib.Path(environment["APPLICATION_LOG"] + ".xml")
    folder = SQLALCHEMY_PARTS.get(part) if suite == "sqlalchemy" else None
    chosen = [folder] if folder else ["--backend-only", part if suite == "alembic" else f"test/{part}"]
    query(host, port, "DROP DATABASE IF EXISTS applications_sqlalchemy", "DROP DATABASE IF EXISTS test_schema",
          "CREATE DATABASE applications_sqlalchemy CHARACTER SET utf8mb4", "CREATE DATABASE test_schema CHARACTER SET utf8mb4")
    url = f"mysql+pymysql://root@{host}:{port}/applications_sqlalchemy?charset=utf8mb4"
    report.unlink(missing_ok=True)
    command = [PYTHON, "-m", "pytest", "--dburi", url, "--maxfail", "100000", "--junit-xml", report, "-q", *chosen]
    ended = run_part(command, sources("SQLAlchemy" if suite == "sqlalchemy" else "alembic"), environment)
    if report.exists():
        with open(environment["APPLICATION_OUTCOMES"], "w") as outcomes, open(environment["APPLICATION_FAILURES"], "w") as failures:
            for case in xml.etree.ElementTree.parse(report).iter("testcase"):
                # A class is named after the server's version, which is another one on each side.
                holder = re.sub(r"_mysql\+pymysql_[\d_]+$", "", case.get("classname"))
                name, outcome = f"{holder}.{case.get('name')}", "passed"
                for child in case:
                    if child.tag in ("failure", "error", "skipped"):
                        outcome = {"failure": "failed"}.get(child.tag, child.tag)
                        if outcome != "skipped":
                            failures.write(f"=== {outcome}\t{name}\n{child.text}\n{child.get('message')}\n")
                outcomes.write(f"{outcome}\t{name}\n")
    query(host, port, "DROP DATABASE IF EXISTS applications_sqlalchemy", "DROP DATABASE IF EXISTS test_schema")
    return ended


def run_go(_, name, environment):
    host, port = environment["APPLICATION_HOST"], environment["APPLICATION_PORT"]
    query(host, port, f"DROP DATABASE IF EXISTS {go_tests.SCHEMA}", f"CREATE DATABASE {go_tests.SCHEMA}")
    ended = run_part(go_tests.command(name), TARGET, dict(environment, **go_tests.variables(host, port)))
    go_tests.keep(environment)
    query(host, port, f"DROP DATABASE IF EXISTS {go_tests.SCHEMA}")
    return ended


def run_program(suite, name, environment):
    environment = dict(environment, NODE_PATH=str(TARGET / "node" / "node_modules"))
    ended = run_part(programs.command(suite, name, TARGET), TARGET, environment)
    programs.keep(environment)
    return ended


SUITES = {"django": run_django, "sqlalchemy": run_pytest, "alembic": run_pytest, "node": run_program, "java": run_program, "go": run_go}


def run(target, label, parts):
    host, port = target.split(":")
    for part in parts or PARTS:
        suite, name = part.split("/")
        folder = TARGET / "results" / label
        folder.mkdir(parents=True, exist_ok=True)
        base = folder / f"{suite}.{name}"
        files = {key: f"{base}.{ending}" for key, ending in (("OUTCOMES", "txt"), ("FAILURES", "failures"), ("LOG", "log"))}
        for path in files.values():
            pathlib.Path(path).unlink(missing_ok=True)
        environment = dict(os.environ, APPLICATION_HOST=host, APPLICATION_PORT=port,
                           **{f"APPLICATION_{key}": path for key, path in files.items()})
        ended = SUITES[suite](suite, name, environment)
        found = collections.Counter(outcome.split(" ", 1)[0] for outcome in outcomes(base).values())
        print(part, dict(found), "" if ended else "(did not end)", flush=True)
        if not found:
            print(pathlib.Path(files["LOG"]).read_text(errors="replace")[-2000:], flush=True)


def outcomes(base):
    path = pathlib.Path(f"{base}.txt")
    return dict(reversed(line.split("\t", 1)) for line in path.read_text().splitlines()) if path.exists() else {}


def failures(base):
    """The text of each failure, by the name of its test; a subtest's name ends behind the test's."""
    found = {}
    path = pathlib.Path(f"{base}.failures")
    for text in path.read_text(errors="replace").split("=== ")[1:] if path.exists() else []:
        head, _, body = text.partition("\n")
        if "\t" in head:
            name = head.split("\t", 1)[1]
            for key in (name, name.split(" ")[0]):
                found.setdefault(key, body.strip())
    return found


def lost(before, after):
    """For each of the usual parts and each that was run at both: how many pass at `before`, how many of them at `after`, and the others."""
    more = [{path.stem.replace(".", "/", 1) for path in (TARGET / "results" / label).glob("*.txt")} for label in (before, after)]
    for part in PARTS + sorted((more[0] & more[1]) - set(PARTS)):
        name = part.replace("/", ".")
        first, second = outcomes(TARGET / "results" / before / name), outcomes(TARGET / "results" / after / name)
        passed = [test for test, outcome in first.items() if outcome.startswith("passed")]
        if passed:
            yield part, passed, [(test, second.get(test, "not run")) for test in passed if second.get(test) != first[test]]


def compare(before, after):
    all_passed, all_lost, short = 0, 0, False
    for part, passed, missing in lost(before, after):
        all_passed, all_lost = all_passed + len(passed), all_lost + len(missing)
        print(f"{part}: {len(passed)} pass at {before}, {len(passed) - len(missing)} of them at {after}: {1 - len(missing) / len(passed):.1%}")
        for test, outcome in missing:
            print(f"    {outcome[:200]}\t{test}")
        short |= len(missing) > len(passed) * (1 - SHARE_WANTED)
    print(f"all: {all_passed} pass at {before}, {all_passed - all_lost} of them at {after}: {1 - all_lost / max(all_passed, 1):.1%}")
    return 1 if short or not all_passed else 0


def causes(before, after):
    groups = collections.defaultdict(list)
    for part, _, missing in lost(before, after):
        texts = failures(TARGET / "results" / after / part.replace("/", "."))
        holders = {re.sub(r".*\((.*)\)", r"\1", name): text for name, text in texts.items()}
        for test, outcome in missing:
            text = texts.get(test) or next((holders[holder] for holder in holders if test.startswith(f"{holder}.")), outcome)
            lines = [line for line in text.splitlines() if re.match(r"(E  +)?[\w.]*(Error|Exception|Warning|Failure)\b", line)] or [text.splitlines()[-1]]
            groups[lines[-1].strip()[:200]].append(f"{part} {test}")
    for cause, tests in sorted(groups.items(), key=lambda group: -len(group[1])):
        print(len(tests), cause)
        for test in tests[:6]:
            print(f"    {test}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["install", "run", "compare", "causes"])
    parser.add_argument("arguments", nargs="*")
    options = parser.parse_args()
    if options.action == "install":
        install()
    elif options.action == "run":
        run(options.arguments[0], options.arguments[1], options.arguments[2:])
    else:
        sys.exit({"compare": compare, "causes": causes}[options.action](*options.arguments))


if __name__ == "__main__":
    main()
