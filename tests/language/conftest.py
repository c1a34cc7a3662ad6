from collections.abc import Iterator

import pytest

from silas.language import speak


@pytest.fixture
def german() -> Iterator[None]:
    """Silas speaks German until the test ends."""
    speak("de")
    yield
    speak("en")
