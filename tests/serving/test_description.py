"""Requests made from the interface's own description, as it is and against it: none ends in a fault."""

import contextlib
import json

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core import NotSet

from tests.export.models import mapped, placed

MODES = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)


@pytest.mark.slow
@pytest.mark.parametrize("similarity", [mapped, placed], ids=["vectors", "answers alone"])
def test_no_description_can_be_followed_into_a_fault(client_of, similarity):
    found = similarity()
    client = client_of(found[0] if isinstance(found, tuple) else found)
    described = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    seen = set()
    for operation in described.get_all_operations():
        for mode in MODES:
            follow(client, operation.ok(), mode, seen)
    assert {"POST /transform", "POST /neighbors", "POST /predict", "GET /stats"} <= {one for one, _ in seen}
    assert {200, 422} <= {status for _, status in seen}
    assert not [one for one in seen if one[1] >= 500]


def follow(client, operation, mode, seen):
    """Send requests of one operation, and hold replies against their description."""

    @given(case=operation.as_strategy(mode))
    @settings(max_examples=10, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))
    def send(case):
        body = b"" if isinstance(case.body, NotSet) else case.body
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = {"content-type": case.media_type} if case.media_type else {}
        reply = client.call(operation.method.upper(), operation.path, headers=kind, content=content)
        seen.add((operation.label, reply.status_code))
        if reply.status_code == 200:
            operation.validate_response(schemathesis.Response.from_any(reply))

    with contextlib.suppress(Unsatisfiable):
        send()
