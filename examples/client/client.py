# SPDX-License-Identifier: Apache-2.0
"""How does a Python program exchange messages with tasks in C?

    make -C examples/client && {
        bin/whimbrel run examples/client/app.toml &
        PYTHONPATH=clients/python python3 examples/client/client.py client-1;
        wait; }

`client-1` is the name of the run, as `whimbrel ps` lists it. A message is `bytes` of `slot_bytes`.
"""

import struct
import sys

from whimbrel_client import Client

NUMBER = struct.Struct("=i")  # int32_t

run = sys.argv[1]
with (
    Client(run, "feed", "out", timeout=10) as feed,
    Client(run, "scope", "in", timeout=10) as scope,
):
    for number in (1, 20, 300):
        feed.send(NUMBER.pack(number))
        print(f"{number} comes back as {NUMBER.unpack(scope.receive())[0]}")
    feed.end()  # the doubler sees the end of the stream, and ends
    list(scope)  # waits for the end of its stream
