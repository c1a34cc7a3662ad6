from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.door import House, a_house


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with a_house(tmp_path) as made:
        yield made
