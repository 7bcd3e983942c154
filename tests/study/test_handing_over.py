"""From the writer's thread to the loop: every result reaches who waits for it, and many together wake it once."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest

from similitude.study.web.handing_over import handed_over


def test_results_and_faults_reach_who_waits_in_one_go(monkeypatch):
    async def wait():
        loop, woken = asyncio.get_running_loop(), []
        call = loop.call_soon_threadsafe
        monkeypatch.setattr(loop, "call_soon_threadsafe", lambda *what: (woken.append(what), call(*what))[1])
        done = [Future() for _ in range(50)]
        waiting = [handed_over(one) for one in done]
        waiting[7].cancel()  # who asked has gone: the others are told all the same

        def settle():
            for k, one in enumerate(done):
                one.set_exception(ValueError(str(k))) if k == 3 else one.set_result(k)

        thread = threading.Thread(target=settle)
        thread.start()
        thread.join()  # the loop cannot look before all are there
        found = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 20)
        return found, len(woken)

    found, woken = asyncio.run(wait())
    assert woken == 1
    assert isinstance(found[3], ValueError)
    assert isinstance(found[7], asyncio.CancelledError)
    assert [value for k, value in enumerate(found) if k not in (3, 7)] == [k for k in range(50) if k not in (3, 7)]


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [2000])
def test_nothing_is_lost_between_two_wake_ups(rounds):
    """A result that comes while the loop hands over others wakes it again."""

    async def wait():
        futures = [Future() for _ in range(rounds)]
        waiting = [handed_over(one) for one in futures]
        thread = threading.Thread(target=lambda: [one.set_result(k) for k, one in enumerate(futures)])
        thread.start()
        found = await asyncio.wait_for(asyncio.gather(*waiting), 60)
        thread.join()
        return found

    assert asyncio.run(wait()) == list(range(rounds))
