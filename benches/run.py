"""Runs the workloads against Iruka and its peers and writes ratios: see README.md beside it."""
import argparse
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]
import workloads  # noqa: E402
from with_server import Server, free_port  # noqa: E402

POOL = "1G"


def wait_for(port, process):
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended with {process.returncode}")
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as probe:
                if probe.recv(1):
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"{process.args[0]} did not answer")


def start_peer(name, program, initialise, folder):
    """Starts an installed peer with the same durability and pool; None when it is not installed."""
    if not shutil.which(program):
        return None
    data, port = folder / name, free_port()
    subprocess.run([word.format(data=data) for word in initialise], check=True, capture_output=True)
    process = subprocess.Popen(
        [program, "--no-defaults", f"--datadir={data}", f"--port={port}", f"--socket={data}/s.sock", "--bind-address=127.0.0.1",
         f"--innodb-buffer-pool-size={POOL}", "--innodb-flush-log-at-trx-commit=1", "--skip-log-bin", "--local-infile=ON",
         "--max-connections=2000", *(["--user=root"] if os.getuid() == 0 else [])], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(port, process)
    return process, port


def report(results, names):
    lines = ["| workload | " + " | ".join(f"{name} per s | {name} CPU us/op" for name in names)
             + "".join(f" | CPU ratio to {name}" for name in names[1:]) + " |"]
    lines.append("|" + " --- |" * (lines[0].count("|") - 1))
    for workload, servers in results.items():
        cells, cpu = [], {}
        for name in names:
            rounds = servers.get(name, [])
            if not rounds:
                cells += ["-", "-"]
                continue
            rates = [operations / seconds for operations, seconds, _ in rounds]
            costs = [1e6 * spent / operations for operations, _, spent in rounds]
            cpu[name] = statistics.median(costs)
            cells += [f"{statistics.median(rates):.4g} ({min(rates):.3g}-{max(rates):.3g})",
                      f"{cpu[name]:.4g} ({min(costs):.3g}-{max(costs):.3g})"]
        for name in names[1:]:
            known = names[0] in cpu and cpu.get(name)
            cells.append(f"{cpu[names[0]] / cpu[name]:.2f}" if known else "-")
        lines.append(f"| {workload} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release" / "iruka")
    parser.add_argument("--server", action="append", default=[], help="NAME=HOST:PORT:PID of a server that runs already")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", help="comma-separated workload functions")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="iruka-bench-"))
    iruka = Server(options.binary, [f"--innodb-buffer-pool-size={POOL}", "--local-infile=ON", "--max-connections=2000"])
    processes, targets = [], []
    try:
        iruka.start()
        targets.append(workloads.Target("Iruka", "127.0.0.1", iruka.port, iruka.process.pid, options.seconds, options.scale))
        peers = {"MySQL": ("mysqld", ["mysqld", "--no-defaults", "--initialize-insecure", "--datadir={data}"]),
                 "MariaDB": ("mariadbd", ["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--datadir={data}"])}
        for name, (program, initialise) in peers.items():
            started = start_peer(name, program, initialise, folder)
            if started:
                processes.append(started[0])
                targets.append(workloads.Target(name, "127.0.0.1", started[1], started[0].pid, options.seconds, options.scale))
        for server in options.server:
            name, address = server.split("=")
            host, port, pid = address.split(":")
            targets.append(workloads.Target(name, host, int(port), int(pid), options.seconds, options.scale))
        chosen = [work for work in workloads.ALL if not options.only or work.__name__ in options.only.split(",")]
        results = {}
        for round_number in range(options.rounds):
            for work in chosen:
                for target in targets:
                    for name, operations, seconds, cpu in work(target):
                        results.setdefault(name, {}).setdefault(target.name, []).append((operations, seconds, cpu))
                        print(f"round {round_number + 1} {target.name:8} {name:32} {operations / seconds:12.1f}/s {1e6 * cpu / operations:10.2f} us/op", flush=True)
        out = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "bench" / "report.md"
        out.parent.mkdir(parents=True, exist_ok=True)
        text = report(results, [target.name for target in targets])
        out.write_text(f"Median of {options.rounds} rounds (minimum-maximum); pool {POOL}, flush at commit 1, no binary log.\n\n{text}")
        print(f"\n{text}\nwritten to {out}")
        iruka.stop()
    finally:
        for process in processes:
            process.terminate()
            process.wait(120)
        if iruka.process and iruka.process.poll() is None:
            iruka.kill()
        iruka.remove()
        shutil.rmtree(folder, ignore_errors=True)


main()
