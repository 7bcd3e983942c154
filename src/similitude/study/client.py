"""A small client of the interface: one kept connection, JSON both ways, on the standard library alone.

Simulated raters, load tests and `remote.py`, the client for labs, are built on it.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlsplit

from similitude.study.fault import StudyError

Reply = tuple[int, dict[str, Any]]
_Raw = tuple[int, dict[bytes, bytes], bytes]
VERSION = "v1"
_TRIES = 30
_PATIENCE = 60.0


class Address:
    """Where a study is: the link that raters get, `http://host:port/s/STUDY/`, perhaps behind a prefix."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not parts.path.strip("/"):
            raise StudyError(f"url: expected a link such as http://127.0.0.1:8000/s/faces/, found {url!r}")
        prefix, _, self.study = parts.path.rstrip("/").rpartition("/")
        self.base = f"{prefix.removesuffix('/s')}/api/{quote(self.study)}"
        self.host, self.secure = parts.hostname, parts.scheme == "https"
        self.port = parts.port or (443 if self.secure else 80)


class Client:
    """One connection.

    Parameters
    ----------
    address : where the study is
    tries : how often a request is sent that does not get through; nothing is said twice by it
    """

    def __init__(self, address: Address, tries: int = _TRIES) -> None:
        self.address, self.tries = address, tries
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: Any = None, token: str | None = None) -> dict[str, Any]:
        """A request of the interface, sent again while the server is away or its store cannot take it."""
        _, headers, data = await self._until_taken(method, f"{VERSION}/{path}", body, token)
        return _decoded(headers, data)

    async def fetch(self, path: str, token: str | None = None) -> bytes:
        """A file, whose path stands beside the version."""
        return (await self._until_taken("GET", path, None, token))[2]

    async def call(self, method: str, path: str, body: Any = None, token: str | None = None) -> Reply:
        """One request, as it is answered; an OSError where the connection breaks."""
        status, headers, data = await self._once(method, path, body, token)
        return status, _decoded(headers, data)

    async def _until_taken(self, method: str, path: str, body: Any, token: str | None) -> _Raw:
        """What is said to a request in the end; StudyError where it was understood and refused."""
        for attempt in range(self.tries):
            try:
                status, headers, data = await self._once(method, path, body, token)
            except ConnectionError:
                if attempt == self.tries - 1:
                    raise
            else:
                if status == 200:
                    return status, headers, data
                if status != 503:
                    raise StudyError(f"{path}: {status} {_decoded(headers, data).get('detail', data[:200])}")
            await asyncio.sleep(0.1 * (attempt + 1))
        raise StudyError(f"{path}: the server could not take it, {self.tries} times")

    async def _once(self, method: str, path: str, body: Any, token: str | None) -> _Raw:
        """One request; after a connection that broke the next call makes a new one."""
        try:
            async with asyncio.timeout(_PATIENCE):  # a network that is gone says nothing
                if self._streams is None:
                    where = self.address
                    self._streams = await asyncio.open_connection(where.host, where.port, ssl=where.secure or None)
                reader, writer = self._streams
                writer.write(self._request(method, path, body, token))
                return await _response(reader)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            self.close()
            raise ConnectionError(str(error)) from error

    def close(self) -> None:
        """Let go of the connection."""
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None

    async def end(self) -> None:
        """Let go of the connection, and wait until it is gone."""
        streams = self._streams
        self.close()
        if streams is not None:
            with suppress(OSError):
                await streams[1].wait_closed()

    def _request(self, method: str, path: str, body: Any, token: str | None) -> bytes:
        data = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {self.address.base}/{path} HTTP/1.1", f"Host: {self.address.host}:{self.address.port}"]
        lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        if token is not None:
            lines.append(f"Authorization: Bearer {token}")
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


async def _response(reader: asyncio.StreamReader) -> _Raw:
    head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    headers = dict(line.lower().split(b":", 1) for line in head[1:] if b":" in line)
    status = int(head[0].split()[1])
    if b"content-length" in headers:
        return status, headers, await reader.readexactly(int(headers[b"content-length"]))
    return status, headers, await _chunks(reader)


def _decoded(headers: dict[bytes, bytes], data: bytes) -> dict[str, Any]:
    is_json = headers.get(b"content-type", b"").strip().startswith(b"application/json")
    return json.loads(data) if is_json and data else {"code": "no_json", "detail": data[:200].decode("latin-1")}


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    data = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        data += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
    return data
