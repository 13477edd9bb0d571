"""Proves that tests see mistakes that were made once (mistakes.toml): breaks each mended line again and runs its test, which must fail.

    run.py prove [--only TEXT]    builds and tests each mistake in a copy of the tree (minutes for each)
    run.py check                  only that each line is still where it was; part of CI"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COPY = ROOT / "target" / "planted"
PYTHON = sys.executable
# A test that takes longer hangs, which CI would not let pass either.
HANG_SECONDS = 180


def changes(mistake):
    """(file, right, wrong) of a mistake: one or two places."""
    return [(mistake[prefix + "file"], mistake[prefix + "right"], mistake[prefix + "wrong"])
            for prefix in ("", "and_") if prefix + "file" in mistake]


def plant(mistake, root):
    """Breaks the lines; an error text if one of them is not there, or there twice."""
    for file, right, wrong in changes(mistake):
        text = (root / file).read_text(encoding="utf8")
        if text.count(right) != 1:
            return f"{file} has the line {text.count(right)} times"
        if root != ROOT:
            (root / file).write_text(text.replace(right, wrong), encoding="utf8")
    return None


def restore(mistake):
    for file, _, _ in changes(mistake):
        shutil.copyfile(ROOT / file, COPY / file)


def run(*command, timeout_seconds=None, **environment):
    return subprocess.run(command, cwd=COPY, capture_output=True, text=True, timeout=timeout_seconds, env=os.environ | environment)


def over_a_server(options, *command):
    """Builds the copy's server and runs a check beside it."""
    built = run("cargo", "build", "--profile", "quick", "--bin", "iruka", "--quiet")
    if built.returncode:
        raise SystemExit(built.stderr)
    return run(PYTHON, "tests/with_server.py", "--binary", "target/quick/iruka", *options, "--", PYTHON, *command)


def is_seen(test):
    """Whether a test fails, in the copy as it is now."""
    kind, _, rest = test.partition(" ")
    match kind:
        case "cargo" | "loom":
            models = {"RUSTFLAGS": "--cfg loom", "CARGO_TARGET_DIR": "target/loom"} if kind == "loom" else {}
            built = run("cargo", "test", "--no-run", "--quiet", *rest.split(), **models)
            if built.returncode:
                raise SystemExit(built.stderr)
            try:
                outcome = run("cargo", "test", "--quiet", *rest.split(), timeout_seconds=HANG_SECONDS, **models)
            except subprocess.TimeoutExpired:
                return True
            return outcome.returncode != 0 and "FAILED" in outcome.stdout
        case "privileges":
            outcome = over_a_server(["--option=--secure-file-priv="], "tests/privileges/run.py", "check", "{target}")
            return outcome.returncode != 0 and any(rest in line for line in outcome.stdout.splitlines())
        case "sql":
            outcome = over_a_server([], "tests/sql/run.py", "check", "--columns", "all", "{target}", f"tests/sql/{rest}.test")
            return outcome.returncode != 0 and "failed" in outcome.stdout
        case "staleness":
            outcome = run("cargo", "run", "--profile", "quick", "--quiet", "-p", "staleness", "--", "--statements", rest)
            return outcome.returncode != 0 and "violation: " in outcome.stdout
        case "foreign_keys":
            outcome = over_a_server([], "tests/foreign_keys/run.py", "{target}", *rest.split())
            return outcome.returncode != 0 and "orphans" in outcome.stderr + outcome.stdout
    raise SystemExit(f"unknown test {test}")


def prove(mistakes):
    COPY.mkdir(parents=True, exist_ok=True)
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, tracked.split("\0")):
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, COPY / name)
    missed = 0
    for mistake in mistakes:
        error = plant(mistake, COPY)
        seen = error is None and is_seen(mistake["test"])
        restore(mistake)
        missed += not seen
        print(f"{'seen' if seen else error or 'NOT SEEN'}: {mistake['finding']} ({mistake['test']})", flush=True)
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["prove", "check"])
    parser.add_argument("--only", default="", help="mistakes whose finding contains this")
    options = parser.parse_args()
    mistakes = tomllib.loads((HERE / "mistakes.toml").read_text(encoding="utf8"))["mistake"]
    mistakes = [mistake for mistake in mistakes if options.only in mistake["finding"]]
    if options.mode == "prove":
        sys.exit(prove(mistakes) > 0)
    lost = [f"{mistake['finding']}: {error}" for mistake in mistakes if (error := plant(mistake, ROOT))]
    print("\n".join(lost) or f"{len(mistakes)} mistakes can be planted")
    sys.exit(bool(lost))


if __name__ == "__main__":
    main()
