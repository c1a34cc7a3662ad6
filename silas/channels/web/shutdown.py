"""The end of the conversations on a cockpit's pages."""

import asyncio

from silas.channels.web.channel import WebChannel


async def end_conversation(channel: WebChannel, listening: "asyncio.Task[None]") -> None:
    """No new messages and safe answers first; turns under way then have the Stream's grace."""
    channel.close()
    heard = asyncio.ensure_future(channel.wait_until_heard())
    await asyncio.wait({heard, listening}, return_when=asyncio.FIRST_COMPLETED)
    heard.cancel()
    listening.cancel()  # it would wait for its turns, however long they take
    await asyncio.wait([listening])
