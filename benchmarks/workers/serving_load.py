"""Clients of a served model: `python serving_load.py PORT PATH TYPE CONNECTIONS SECONDS < BODY`, prints waits in ms.

Each connection sends the same body again and again. Responses are read by their length alone, so that the clients take
as little as they can of the cores that they share with the server.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time


async def ask(port: int, request: bytes, until: float) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    waits = []
    while time.perf_counter() < until:
        sent = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.decode())
        start = head.find(b"content-length: ") + 16
        await reader.readexactly(int(head[start : head.find(b"\r", start)]))
        waits.append(1000 * (time.perf_counter() - sent))
    writer.close()
    return waits


async def load(port: int, path: str, kind: str, connections: int, seconds: float, body: bytes) -> dict[str, object]:
    head = f"POST {path} HTTP/1.1\r\nHost: model\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    request = head.encode() + body
    begin = time.perf_counter()
    waits = await asyncio.gather(*(ask(port, request, begin + seconds) for _ in range(connections)))
    return {"seconds": time.perf_counter() - begin, "waits": [wait for some in waits for wait in some]}


if __name__ == "__main__":
    port, path, kind, connections, seconds = sys.argv[1:]
    body = sys.stdin.buffer.read()
    print(json.dumps(asyncio.run(load(int(port), path, kind, int(connections), float(seconds), body))))
