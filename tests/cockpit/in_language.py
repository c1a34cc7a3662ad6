"""A cockpit that speaks a language, and a page of it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from silas.language import speak
from tests.cockpit.program_page import ProgramPage, a_page
from tests.web.support.cockpit import Cockpit, Home, a_cockpit


@asynccontextmanager
async def a_cockpit_in(language: str, folder: Path) -> AsyncGenerator[tuple[Cockpit, ProgramPage]]:
    """The cockpit, and a program that is paired and connected; English again at the end."""
    home = Home(folder)
    home.speaks(language)
    try:
        async with a_cockpit(home) as cockpit, a_page(cockpit.origin, await cockpit.link()) as page:
            await page.connect()
            yield cockpit, page
    finally:
        speak("en")
