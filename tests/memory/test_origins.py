"""A source is forgotten by the same rule by which the conversation knows what came from it."""

from pathlib import Path

import pytest

from silas.context.origin import names
from silas.testing import MockClock
from silas.types import SOURCE_BOUNDARIES
from tests.memory.memories import a_memory, a_store

WANTED = "mcp:mail"
OTHERS = "x-._,;%\U0010ffff"
"""What a longer name may go on with without lying below the wanted one."""


@pytest.mark.parametrize("end", list(SOURCE_BOUNDARIES + OTHERS))
@pytest.mark.parametrize("wanted", [WANTED, f"{WANTED}@", f"{WANTED} "])
async def test_a_memory_is_forgotten_exactly_where_the_source_names_it(
    wanted: str, end: str, tmp_path: Path
) -> None:
    sources = [f"{WANTED}{end}", f"{WANTED}{end}work/inbox", f"{wanted}{end}work"]
    with a_store(tmp_path, MockClock()) as store:
        for source in sources:
            await store.store(a_memory(source, "kept", sources=(source,)))
        assert await store.forget(wanted) == sum(names(source, wanted) for source in set(sources))


async def test_what_came_from_an_account_is_forgotten_with_its_service(tmp_path: Path) -> None:
    with a_store(tmp_path, MockClock()) as store:
        await store.store(a_memory("m", "kept", sources=("mcp:mail@example.org",)))
        await store.store(a_memory("n", "kept", sources=("mcp:mailbox@example.org",)))
        assert await store.forget("mcp:mail") == 1
        assert [each.memory_id for each in await store.search_keyword("kept", 5)] == ["n"]
