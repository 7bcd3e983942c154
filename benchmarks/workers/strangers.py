"""Strangers at the door: `python strangers.py PORT header MEGABYTES` or `python strangers.py PORT crowd CONNECTIONS`.

A header of one line without an end, sent as fast as it is taken; or connections that send half a request and stay.
Prints a line when it is sent, or taken no more; a crowd stays until its input is closed.
"""

from __future__ import annotations

import contextlib
import socket
import sys


def send_header(port: int, megabytes: int) -> None:
    piece, sent = b"x" * (1 << 20), 0
    with socket.create_connection(("127.0.0.1", port), 60) as connection, contextlib.suppress(OSError):
        connection.sendall(b"GET / HTTP/1.1\r\nHost: study\r\nX: ")
        for _ in range(megabytes):
            connection.sendall(piece)
            sent += 1
    print(f"{sent} MB taken", flush=True)


def stand_in_the_door(port: int, number: int) -> None:
    held = []
    with contextlib.suppress(OSError):
        for _ in range(number):
            held.append(socket.create_connection(("127.0.0.1", port), 5))
            held[-1].sendall(b"GET / HTTP/1.1\r\nHost: stu")
    print(f"{len(held)} connected", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    port, what, size = sys.argv[1:]
    (send_header if what == "header" else stand_in_the_door)(int(port), int(size))
