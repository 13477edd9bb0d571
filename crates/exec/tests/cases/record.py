#!/usr/bin/env python3
"""Records what a live MySQL answers to cases/*.sql: record.py HOST PORT."""
import pathlib
import re
import subprocess
import sys

host, port = sys.argv[1:3]
for path in sorted(pathlib.Path(__file__).parent.glob("*.sql")):
    statements = [s.strip() for s in path.read_text().split(";\n") if s.strip()]
    script = ["DROP DATABASE IF EXISTS exec_cases", "CREATE DATABASE exec_cases", "USE exec_cases", "SET time_zone='+00:00'", "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci"]
    for number, statement in enumerate(statements):
        script += [f"\\! echo @@{number}\n{statement}"]
    script.append("DROP DATABASE exec_cases")
    command = ["mysql", "-h", host, "-P", port, "-uroot", "--batch", "--skip-column-names", "-f", "-n", "--default-character-set=utf8mb4"]
    done = subprocess.run(command, input=";\n".join(script) + ";\n", text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out = []
    # The client repeats a failed statement between rulers, followed by an empty line.
    shown = re.sub(r"^-{14}\n.*?\n-{14}\n\n", "", done.stdout, flags=re.M | re.S)
    for line in shown.splitlines():
        marker = re.fullmatch(r"@@(\d+)", line)
        if marker:
            out.append("> " + statements[int(marker[1])].replace("\n", " "))
        elif out:
            line = re.sub(r"^(ERROR \d+ \(\w+\)) at line \d+: ", r"\1: ", line)
            out.append(line.replace("exec_cases", "test"))
    path.with_suffix(".result").write_text("\n".join(out) + "\n")
