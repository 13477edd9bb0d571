"""Whose CPU time is counted, and that only work makes it grow."""
import os
import socket
import time

import clocks

with socket.socket() as listener:
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    assert clocks.listening_process(listener.getsockname()[1]) == os.getpid()

clock = clocks.cpu_of(os.getpid())
start = clock()
time.sleep(0.05)
assert clock() - start < 0.04
own = time.process_time()
while time.process_time() < own + 0.05:
    pass
assert clock() - start >= 0.05
