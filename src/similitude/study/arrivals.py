"""How many come from one network: counted in memory for an hour, by a clock that only runs forward, written nowhere."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict, deque
from collections.abc import Callable

_HOUR = 3600.0
_REMEMBERED = 10_000


class Arrivals:
    """New raters of one study by network.

    Parameters
    ----------
    most : from one network within an hour; 0 is any number
    monotonic : seconds that only go forward
    """

    def __init__(self, most: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.most, self.monotonic = most, monotonic
        self._came: OrderedDict[str, deque[float]] = OrderedDict()

    def let_in(self, network: str) -> bool:
        """Whether one more may come from there, who is then counted."""
        if not self.most:
            return True
        came, now = self._came.setdefault(network, deque()), self.monotonic()
        self._came.move_to_end(network)
        while len(self._came) > _REMEMBERED:
            self._came.popitem(last=False)
        while came and came[0] <= now - _HOUR:
            came.popleft()
        if len(came) >= self.most:
            return False
        came.append(now)
        return True


def network_of(host: str) -> str:
    """Whom an address stands for: itself; of IPv6 the network, since one person has a whole one."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))


def is_this_machine(host: str) -> bool:
    """Whether an address is one of the machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
