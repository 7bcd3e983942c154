"""Clients of served models, in this process."""

import asyncio

import httpx
import pytest

from similitude.serving.app import create_app


class ModelClient:
    """Requests to the application of a model in this process."""

    def __init__(self, similarity, **limits):
        self.app = create_app(similarity, **limits)

    def call(self, method, path, **options):
        async def ask():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://model") as client:
                return await client.request(method, path, **options)

        return asyncio.run(ask())

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, **body):
        return self.call("POST", path, **body)


@pytest.fixture
def client_of():
    return ModelClient
