"""A model server in a thread that gives an answer piece by piece, as far as a test lets it."""

import json
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.waits import SECONDS


class SlowModel:
    """Speaks the chat completions of OpenAI; each piece waits for `release`.

    Attributes:
        base_url: Where it listens.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = pieces
        self.base_url = ""
        self._allowed = threading.Semaphore(0)

    def release(self, count: int = 1) -> None:
        """Let so many pieces go."""
        self._allowed.release(count)

    def next_piece(self) -> None:
        """Wait until a piece may go; a test that has ended lets nobody wait for ever."""
        self._allowed.acquire(timeout=SECONDS)


def _chunk(delta: dict[str, str], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    event = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "slow"}
    return f"data: {json.dumps({**event, 'choices': [choice]})}\n\n".encode()


@contextmanager
def slow_model(pieces: Sequence[str]) -> Generator[SlowModel]:
    """A server for one answer, on loopback."""
    model = SlowModel(pieces)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if not asked.get("stream"):
                return self._whole()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for piece in model.pieces:
                model.next_piece()
                self.wfile.write(_chunk({"role": "assistant", "content": piece}))
                self.wfile.flush()
            self.wfile.write(_chunk({}, "stop") + b"data: [DONE]\n\n")
            return None

        def _whole(self) -> None:
            said = {"role": "assistant", "content": "".join(model.pieces)}
            choice = {"index": 0, "message": said, "finish_reason": "stop"}
            answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "slow"}
            data = json.dumps({**answer, "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join(SECONDS)
