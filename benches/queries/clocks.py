"""Clocks of a server under test: wall time, or the CPU time of its process, which other processes on the machine disturb little."""
import os
import pathlib
import time

# CLOCK of clock_gettime for all threads of a process, ended ones too, in nanoseconds (CPUCLOCK_SCHED of <linux/posix-timers.h>).
CPU_OF_PROCESS = 2
LISTENING = "0A"


def wall():
    return time.perf_counter()


def cpu_of(process):
    """A clock that counts the CPU seconds of that process."""
    clock = (~process << 3) | CPU_OF_PROCESS
    return lambda: time.clock_gettime(clock)


def listening_process(port):
    """Id of the process of this machine that listens at the TCP port."""
    sockets = {f"socket:[{inode}]" for inode in listening_sockets(port)}
    for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) in sockets:
                return int(link.parts[2])
        except OSError:
            # It was closed since, or belongs to somebody else.
            continue
    raise SystemExit(f"no process that may be looked at listens at port {port}: --clock cpu is for servers of this machine")


def listening_sockets(port):
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and int(fields[1].rsplit(":", 1)[1], 16) == port:
                yield fields[9]
