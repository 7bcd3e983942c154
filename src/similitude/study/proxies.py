"""The proxy before the server: how the server is reached from outside, and whose word about that counts.

A proxy says who asks, and whether by TLS, in headers that anybody can send. They are believed from this machine and
from addresses that `--trusted-proxy` names, and ignored from anywhere else.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from similitude.study.settings import StudyError

_HERE = ("127.0.0.1", "::1")


@dataclass(frozen=True)
class Outside:
    """How the server is reached from outside.

    Attributes
    ----------
    root : the path under which a proxy has put it
    secure : whether by TLS alone
    origin : what stands before the path, as `https://study.example.org`; empty where that is not known
    """

    root: str = ""
    secure: bool = False
    origin: str = ""

    @classmethod
    def of(cls, public_url: str | None) -> Outside:
        """From a public address, which may be none."""
        if public_url is None:
            return cls()
        parts = urlsplit(public_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise StudyError(f"public_url: expected an address such as https://study.example.org, found {public_url!r}")
        return cls(parts.path.rstrip("/"), parts.scheme == "https", f"{parts.scheme}://{parts.netloc}")


class Proxies:
    """The proxies that are trusted.

    Parameters
    ----------
    more : addresses and networks beside those of this machine
    """

    def __init__(self, more: Iterable[str] = ()) -> None:
        self.networks = [_network(one) for one in (*_HERE, *more)]

    def is_trusted(self, address: str) -> bool:
        """Whether an address is that of a proxy of ours: everybody comes from there, and its word counts."""
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self.networks)


def _network(written: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(written)
    except ValueError as error:
        raise StudyError(
            f"trusted_proxy: expected an address such as 10.0.0.5, or a network such as 10.0.0.0/24; {error}"
        ) from None
