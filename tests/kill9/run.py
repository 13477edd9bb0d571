"""kill -9 loop on the real binary: `run.py --binary B [--rounds 300] [--full-disk N] [--damage N] [--seed S]`.

Each round starts the server on the same data directory, runs writers, kills the server with SIGKILL at a random moment and
starts it again; then what the oracle of workload.py says must hold. In N of the rounds the disk is full when the server is
killed and when it starts again (needs the right to mount a small file system); in N of them one bit of the directory is
flipped, one file removed or the end of one zeroed before a start (damage.py), and afterwards put back."""
import argparse
import collections
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import damage  # noqa: E402
from with_server import Server  # noqa: E402
from workload import Progress, prepare  # noqa: E402

DISK = "1500m"
OPTIONS = ["--innodb-buffer-pool-size=16M"]


class Rounds:
    def __init__(self, options):
        self.options, self.dice = options, random.Random(options.seed)
        self.folder = tempfile.mkdtemp(prefix="iruka-kill9-")
        self.is_mounted = options.full_disk > 0 and self.mount()
        self.server = Server(options.binary, OPTIONS, self.folder)
        self.progress = Progress()
        self.restart_seconds, self.outcomes = [], collections.Counter()

    def mount(self):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", self.folder], capture_output=True, text=True)
        if done.returncode:
            print(f"no full disk, for want of the right to mount one: {done.stderr.strip()}", flush=True)
        return done.returncode == 0

    def run(self):
        kinds = ["full"] * (self.options.full_disk if self.is_mounted else 0) + ["damage"] * self.options.damage
        kinds += ["plain"] * (self.options.rounds - len(kinds))
        self.dice.shuffle(kinds)
        self.server.start()
        prepare(self.server)
        for number, kind in enumerate(kinds):
            try:
                self.round(kind)
            except (AssertionError, RuntimeError) as error:
                self.server.kill()
                sys.exit(f"round {number} ({kind}): {error}\ndata directory kept: {self.folder}")
        self.server.stop()
        if self.is_mounted:
            subprocess.run(["umount", self.folder], check=True)
        self.server.remove()

    def round(self, kind):
        writers = self.progress.start(self.server, self.dice)
        time.sleep(self.dice.uniform(0.1, self.options.seconds_max))
        balloon = self.fill() if kind == "full" else None
        if balloon:
            time.sleep(self.dice.uniform(0.1, self.options.seconds_max))
        self.server.kill()
        self.progress.join(writers)
        if kind == "damage":
            self.damage()
        self.start()
        if balloon:
            self.outcomes["repeated for want of space"] += sum(writer.repeated for writer in writers)
            self.progress.check(self.server, writes=False)
            balloon.unlink()
        self.progress.check(self.server)

    def start(self):
        started = time.monotonic()
        self.server.start()
        self.restart_seconds.append(time.monotonic() - started)

    def fill(self):
        """Leaves no byte free."""
        balloon = pathlib.Path(self.folder) / "balloon"
        with open(balloon, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 20))
            except OSError:
                pass
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        return balloon

    def damage(self):
        with tempfile.TemporaryDirectory(prefix="iruka-kill9-whole-") as copy:
            subprocess.run(["cp", "-a", f"{self.folder}/.", copy], check=True)
            path, what, unproven = damage.inflict(self.folder, self.dice)
            try:
                outcome = damage.judge(self.server, self.progress_copy(), path, unproven, len(self.server.log()))
            except AssertionError as error:
                raise AssertionError(f"{what}: {error}") from error
            print(f"  {what}: {outcome}", flush=True)
            self.outcomes[outcome] += 1
            for entry in pathlib.Path(self.folder).iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            subprocess.run(["cp", "-a", f"{copy}/.", self.folder], check=True)

    def progress_copy(self):
        copy = Progress()
        copy.acknowledged, copy.greatest_id = list(self.progress.acknowledged), self.progress.greatest_id
        copy.altered = self.progress.altered
        return copy


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--full-disk", type=int, default=0)
    parser.add_argument("--damage", type=int, default=0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds-max", type=float, default=2.0)
    options = parser.parse_args()
    print(f"kill -9: {options.rounds} rounds, seed {options.seed}", flush=True)
    rounds = Rounds(options)
    rounds.run()
    told = "".join(f", {count} {outcome}" for outcome, count in sorted(rounds.outcomes.items()))
    print(f"{options.rounds} passed, 0 failed ({sum(rounds.progress.acknowledged)} transactions, {rounds.progress.altered} ALTERs, "
          f"slowest restart {max(rounds.restart_seconds):.2f} s{told})")


main()
