"""A program that serves with every file taken, is asked meanwhile, and then has files again."""

import asyncio
import os
import resource
import socket

FILES = 64


def _take_all() -> list[int]:
    taken: list[int] = []
    while True:
        try:
            taken.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            return taken


async def _asked(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
    assert b"hello" in await reader.readuntil(b"hello")
    writer.close()


async def _main() -> None:
    from silas.channels.web.asgi import Receive, Scope, Send
    from silas.channels.web.serve import PlainHttp, run_server
    from silas.clock import SystemClock

    async def hello(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"hello"})

    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    loop, errors = asyncio.get_running_loop(), asyncio.Event()

    def told(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        errors.set()
        loop.default_exception_handler(context)

    loop.set_exception_handler(told)
    async with run_server(
        hello, "127.0.0.1", 0, SystemClock(), lambda head: False, PlainHttp()
    ) as port:
        await _asked(port)
        waiting = [socket.socket() for _ in range(8)]
        taken = _take_all()
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        await errors.wait()
        print("full", flush=True)
        for number in taken:
            os.close(number)
        await _asked(port)
        print("answered", flush=True)


if __name__ == "__main__":
    asyncio.run(_main())
