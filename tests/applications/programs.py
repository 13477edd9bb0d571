"""Programs of our own that use a library as its users do: each prints a line for a step, with what it saw (README.md).

A step's outcome is `passed` and what was seen, or `failed`; a step that sees something else at another server is lost there."""
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ["node/sequelize", "node/knex", "node/typeorm", "node/mikroorm", "java/hibernate", "java/flyway", "java/liquibase"]


def install(target):
    """Fetches the packages that node/package.json and java/pom.xml name, again when these change."""
    node, java = target / "node", target / "java"
    for folder, description in ((node, HERE / "node" / "package.json"), (java, HERE / "java" / "pom.xml")):
        stamp = folder / ".installed"
        if stamp.exists() and stamp.read_text() == description.read_text():
            continue
        folder.mkdir(parents=True, exist_ok=True)
        (folder / description.name).write_bytes(description.read_bytes())
        command = ["npm", "install", "--no-audit", "--no-fund", "--silent"] if folder == node else \
            ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={java}"]
        subprocess.run(command, cwd=folder, check=True)
        stamp.write_text(description.read_text())


def command(suite, name, target):
    """What runs a program; a Java program is compiled first."""
    if suite == "node":
        return ["node", HERE / name]
    classes, jars = target / "classes" / name, f"{target}/java/*"
    subprocess.run(["javac", "-nowarn", "-encoding", "UTF-8", "-cp", jars, "-d", classes, HERE / "java" / "Steps.java", *(HERE / name).glob("*.java")], check=True)
    return ["java", "-cp", f"{classes}{os.pathsep}{HERE / name}{os.pathsep}{jars}", "Main"]


def keep(environment):
    """The outcomes of the steps that a program's log tells of."""
    with open(environment["APPLICATION_LOG"], errors="replace") as log, open(environment["APPLICATION_OUTCOMES"], "w") as outcomes, \
            open(environment["APPLICATION_FAILURES"], "w") as failures:
        for line in log:
            outcome, _, rest = line.rstrip("\n").partition("\t")
            step, found, seen = rest.partition("\t")
            if found and outcome == "passed":
                outcomes.write(f"passed {seen}\t{step}\n")
            elif found and outcome == "failed":
                outcomes.write(f"failed\t{step}\n")
                failures.write(f"=== failed\t{step}\n{seen}\n")
