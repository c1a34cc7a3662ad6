from collections.abc import AsyncGenerator

import pytest_asyncio
from playwright.async_api import Browser

from tests.web.support.chromium import chromium


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncGenerator[Browser]:
    """One for all browser tests of a worker; each device is a context of its own."""
    async with chromium() as started:
        yield started
