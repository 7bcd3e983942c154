"""A small client of the raters' interface: one kept connection, JSON both ways, on the standard library alone."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import quote, urlsplit

from similitude.study.settings import StudyError

Reply = tuple[int, dict[str, Any]]


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
    """One rater's connection."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, method: str, path: str, body: Any = None, token: str | None = None) -> Reply:
        """One request; an OSError where the connection breaks, after which the next call makes a new one."""
        try:
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

    def _request(self, method: str, path: str, body: Any, token: str | None) -> bytes:
        data = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {self.address.base}/{path} HTTP/1.1", f"Host: {self.address.host}:{self.address.port}"]
        lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        if token is not None:
            lines.append(f"Authorization: Bearer {token}")
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


async def _response(reader: asyncio.StreamReader) -> Reply:
    head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    headers = dict(line.lower().split(b":", 1) for line in head[1:] if b":" in line)
    status = int(head[0].split()[1])
    if b"content-length" in headers:
        data = await reader.readexactly(int(headers[b"content-length"]))
    else:
        data = await _chunks(reader)
    is_json = headers.get(b"content-type", b"").strip().startswith(b"application/json")
    return status, json.loads(data) if is_json and data else {"code": "no_json", "detail": data[:200].decode("latin-1")}


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    data = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        data += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
    return data
