"""The page that describes the interface, made from its description (`/openapi.json`): no script, no other host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from similitude.study.web.admin_page import render

router = APIRouter(include_in_schema=False)

SUMMARY = "Ask and tell: questions for a rater, answers, the model, neighbours, export."
DESCRIPTION = (
    "Show a token with every request: Authorization: Bearer TOKEN. A token with the scope ask names the rater in each "
    "request; the token that join gives stands for one rater. The scope read is for model, neighbours, state and "
    "export, admin for pausing and for raters. Within one version names are added and none is changed or taken away."
)


@router.get("/api")
def api_page(request: Request) -> Response:
    """What may be asked, and what is said."""
    described = request.app.openapi()
    parts = described.get("components", {}).get("schemas", {})
    operations = [
        {"method": method.upper(), "path": path, **_operation(operation, parts)}
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    return render(request, "api.html", about=described["info"], operations=operations)


def _operation(operation: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    taken = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    said = operation["responses"]["200"].get("content", {})
    schema = said.get("application/json", {}).get("schema")
    query = [one for one in operation.get("parameters", ()) if one["in"] == "query"]
    return {
        "words": operation.get("description") or operation["summary"],
        "query": [
            {"name": one["name"], "kind": _kind(one["schema"]), "required": one["required"], "words": ""}
            for one in query
        ],
        "taken": list(_fields(taken, parts)),
        "said": list(_fields(schema, parts)),
        "file": None if schema else ", ".join(said),
    }


def _fields(schema: Mapping[str, Any] | None, parts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The fields of an object, one by one."""
    if schema is None:
        return
    found = parts[_called(schema)] if "$ref" in schema else schema
    for name, one in found.get("properties", {}).items():
        told = {"name": name, "kind": _kind(one), "words": one.get("description", "")}
        yield told | {"required": name in found.get("required", ())}


def _kind(schema: Mapping[str, Any]) -> str:
    """What a value is, in words."""
    if "$ref" in schema:
        return _called(schema)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(f'"{one}"' for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if "properties" in schema:
        return str(schema["title"])
    return str(schema.get("type", "any"))


def _called(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]
