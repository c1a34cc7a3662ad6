"""Answers that were written by hand to exactly what Silas sent, served again on loopback.

A file `answers/NAME.json` holds the answers of one task in order. Each is what
`POST /v1/chat/completions` answers: `{"content": TEXT}`, `{"json": OBJECT}` for an answer in a
form, or `{"calls": [[TOOL, ARGUMENTS], ...]}`.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

ANSWERS: Final = Path(__file__).parent / "answers"

Answer = Mapping[str, Any]

_PLACE: Final = "{workspace}"
"""Stands in an answer for the directory of the task, which the request names."""


def recorded(task: str) -> tuple[Answer, ...]:
    """The answers of a task; empty where nobody wrote any."""
    path = ANSWERS / f"{task}.json"
    return tuple(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else ()


class Player:
    """Answers one request after the other, and keeps what it was asked."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = answers
        self._workspace = ""
        self.requests: list[dict[str, Any]] = []

    @property
    def left(self) -> int:
        """Answers that nobody asked for yet; negative where there were too few."""
        return len(self._answers) - len(self.requests)

    def completion(self, body: bytes) -> bytes | None:
        """The next answer as a chat completion; None where there is none left."""
        request = json.loads(body)
        self.requests.append(request)
        self._workspace = _workspace(request) or self._workspace
        if self.left < 0:
            return None
        answer = self._answers[len(self.requests) - 1]
        return json.dumps(self._message(answer, len(body))).encode()

    def _message(self, answer: Answer, read: int) -> dict[str, Any]:
        number = len(self.requests)
        calls = [
            {
                "id": f"call-{number}-{index}",
                "type": "function",
                "function": {"name": name, "arguments": self._placed(arguments)},
            }
            for index, (name, arguments) in enumerate(answer.get("calls", ()))
        ]
        text = answer.get("content")
        content = self._placed(answer["json"]) if "json" in answer else text
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if calls:
            message["tool_calls"] = calls
        written = len(json.dumps(message))
        return {
            "id": f"recorded-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": "recorded",
            "choices": [
                {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
            ],
            "usage": {
                "prompt_tokens": read // 4,
                "completion_tokens": written // 4,
                "total_tokens": (read + written) // 4,
            },
        }

    def _placed(self, value: object) -> str:
        return json.dumps(value).replace(_PLACE, self._workspace)


def _workspace(request: Mapping[str, Any]) -> str:
    """The directory that the facts of a request name; empty where they name none."""
    told = [m for m in request["messages"] if m["role"] == "user"]  # a prompt has an example
    for message in told:
        for line in str(message.get("content") or "").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "workspace" and value.strip().startswith("/"):
                return value.strip()
    return ""


@asynccontextmanager
async def serving(player: Player) -> AsyncGenerator[str]:
    """Serves the answers on loopback while it is open; yields the `base_url`."""
    served = await asyncio.start_server(_attend(player), "127.0.0.1", 0)
    async with served:
        port = served.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1"


def _attend(player: Player) -> Any:
    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        lengths = [line for line in head.splitlines() if line.startswith("content-length:")]
        body = await reader.readexactly(int(lengths[0].split(":")[1])) if lengths else b""
        answer = player.completion(body) if body else b'{"object": "list", "data": []}'
        status = "200 OK" if answer is not None else "410 Gone"
        data = answer or b'{"error": {"message": "no answer was recorded for this request"}}'
        writer.write(
            f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(data)}\r\nconnection: close\r\n\r\n".encode()
            + data
        )
        await writer.drain()
        writer.close()

    return attend
