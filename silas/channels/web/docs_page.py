"""`/docs`: the endpoints as one plain page of our own, without scripts and other hosts."""

from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from silas.channels.web.endpoints import Refusing, endpoints

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Silas: endpoints</title>
<link rel="stylesheet" href="/static/style.css">
<link rel="stylesheet" href="/static/text.css">
</head>
<body class="docs">
<main>
<h1>Endpoints</h1>
<p>Every request carries the session's cookie and, but for this page, the header
<code>X-Silas-Page</code>. The same as <a href="/openapi.json">openapi.json</a>.</p>
{endpoints}
</main>
</body>
</html>
"""


def docs_routes(refused: Refusing) -> APIRouter:
    """`/docs`, made from the document of the application that it is mounted in."""
    router = endpoints("docs", refused)

    @router.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        return HTMLResponse(page(request.app.openapi()))

    return router


def page(document: dict[str, Any]) -> str:
    """An OpenAPI document as HTML; everything in it is text."""
    paths: dict[str, dict[str, Any]] = document.get("paths", {})
    parts = [
        _endpoint(path, method.upper(), operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
    ]
    return _PAGE.format(endpoints="\n".join(parts))


def _endpoint(path: str, method: str, operation: dict[str, Any]) -> str:
    rows = "".join(f"<li>{row}</li>" for row in _lines_of_input(operation))
    given = f"<ul>{rows}</ul>" if rows else ""
    summary = escape(str(operation.get("summary", "")))
    return (
        f"<section><h2><code>{method} {escape(path)}</code></h2><p>{summary}.</p>{given}</section>"
    )


def _lines_of_input(operation: dict[str, Any]) -> Iterator[str]:
    """What it takes: parameters, then the body."""
    for parameter in operation.get("parameters", []):
        words = str(parameter.get("description", ""))
        yield f"<code>{escape(parameter['name'])}</code> {escape(words)}"
    content: dict[str, Any] = operation.get("requestBody", {}).get("content", {})
    for media in content.values():
        schema: dict[str, Any] = media.get("schema", {})
        name = str(schema.get("$ref", "")).rpartition("/")[2] or ", ".join(
            schema.get("properties", {})
        )
        yield f"a JSON object: <code>{escape(name)}</code>"
