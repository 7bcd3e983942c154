"""Raters as fast as a machine allows: `python study_load.py URL RATERS SECONDS THINK`, prints waits in milliseconds.

Requests are made by hand and answers are read by looking for a few bytes, so that the client takes as little as it can
of the cores that it shares with the server.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time

from similitude.study.client import Address, Client


class Rater(asyncio.Protocol):
    """One connection: an answer, a wait for its acknowledgement, thought, the next."""

    def __init__(self, head: bytes, number: int, think: float, until: float, done: asyncio.Future[None]) -> None:
        self.head, self.number, self.think, self.until, self.done = head, number, think, until, done
        self.buffer = b""
        self.waits: list[float] = []
        self.sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        asyncio.get_running_loop().call_later(random.random() * self.think, self.send)

    def send(self) -> None:
        body = b'{"number":%d,"uid":"answer-%d","response":[1],"milliseconds":900}' % (self.number, self.number)
        self.sent = time.perf_counter()
        self.transport.write(self.head + b"%d\r\n\r\n" % len(body) + body)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        start = self.buffer.find(b"content-length: ") + 16
        if len(self.buffer) < end + 4 + int(self.buffer[start : self.buffer.find(b"\r", start)]):
            return
        if not self.buffer.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(RuntimeError(self.buffer.decode()))
            return
        self.waits.append(1000 * (time.perf_counter() - self.sent))
        at = self.buffer.find(b'"number":', end)
        if at < 0 or time.perf_counter() > self.until:
            self.transport.close()
            self.done.set_result(None)
            return
        self.number = int(self.buffer[at + 9 : self.buffer.find(b",", at)])
        self.buffer = b""
        asyncio.get_running_loop().call_later(self.think, self.send) if self.think else self.send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the server closed the connection"))


async def enter(address: Address, name: str) -> tuple[bytes, int]:
    """Join and take the first question: the head of all requests to come, and its number."""
    client = Client(address)
    token = (await client.call("POST", "join", {"uid": name}))[1]["token"]
    await client.call("POST", "consent", None, token)
    state = (await client.call("POST", "questions", None, token))[1]
    client.close()
    head = f"POST {address.base}/answers HTTP/1.1\r\nHost: study\r\nAuthorization: Bearer {token}\r\nContent-Length: "
    return head.encode(), state["questions"][0]["number"]


async def load(url: str, raters: int, seconds: float, think: float) -> dict[str, object]:
    address, loop = Address(url), asyncio.get_running_loop()
    entered = [await enter(address, f"load-{time.time_ns()}-{k}") for k in range(raters)]
    begin = time.perf_counter()
    done = [loop.create_future() for _ in entered]
    made = [Rater(head, number, think, begin + seconds, end) for (head, number), end in zip(entered, done, strict=True)]
    for rater in made:
        await loop.create_connection(lambda rater=rater: rater, address.host, address.port)
    await asyncio.gather(*done)
    return {"seconds": time.perf_counter() - begin, "waits": [wait for rater in made for wait in rater.waits]}


if __name__ == "__main__":
    url, raters, seconds, think = sys.argv[1:]
    print(json.dumps(asyncio.run(load(url, int(raters), float(seconds), float(think)))))
