import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.web.support.chromium import LIGHT, chromium
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import NewDevice, devices
from tests.web.support.namespace import OWN_NETWORK


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The tests of a phone are run by `test_phone_network.py`, or by their name."""
    if collection_path.name != "test_phone.py" or os.environ.get(OWN_NETWORK):
        return None
    return not any(collection_path.name in word for word in config.args) or None


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncGenerator[Browser]:
    """One for all browser tests of a worker; each device is a context of its own."""
    async with chromium(LIGHT) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def new_device(browser: Browser, cockpit: Cockpit) -> AsyncGenerator[NewDevice]:
    """Makes devices; they are closed before the cockpit is.

    Their page keeps no files for when Silas is away, which takes a quarter of what it is to pair
    one and to load the page; `keeping_device` is for whatever that has to do with.
    """
    async with devices(browser, "block") as new:
        yield new


@pytest_asyncio.fixture(loop_scope="session")
async def keeping_device(browser: Browser, cockpit: Cockpit) -> AsyncGenerator[NewDevice]:
    """The same, of devices whose page keeps its own files, as an owner's does."""
    async with devices(browser) as new:
        yield new


@pytest_asyncio.fixture(loop_scope="session")
async def whole_device(cockpit: Cockpit) -> AsyncGenerator[NewDevice]:
    """The same in the whole browser: for what it installs, and for when and where it paints."""
    async with chromium() as started, devices(started) as new:
        yield new


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with runbooks and a workspace."""
    return Home(tmp_path)


@pytest_asyncio.fixture(loop_scope="session")
async def cockpit(home: Home) -> AsyncGenerator[Cockpit]:
    """A cockpit of the test's own."""
    async with a_cockpit(home) as running:
        yield running
