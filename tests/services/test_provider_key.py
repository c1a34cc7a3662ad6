from pathlib import Path

from silas.agents.choice import PROVIDER_KEY
from silas.config.firstrun import FirstRun, keep_first_run, read_first_run
from silas.services.secrets import open_secrets_service
from tests.support.home import Home

_KEY = "sk-or-v1-0123456789abcdef"


async def test_the_key_that_the_terminal_is_given_lets_the_provider_answer_as_the_cockpits_does(
    tmp_path: Path,
) -> None:
    home = await Home.set_up(tmp_path)
    folder = home.config.data_dir
    async with open_secrets_service(home.config) as service:
        await service.add(PROVIDER_KEY, _KEY)
        assert read_first_run(folder) is None  # nothing was chosen, so nothing is noted
        await service.remove(PROVIDER_KEY)
        keep_first_run(folder, FirstRun(provider="openrouter", name="Ada"))
        noted: list[FirstRun | None] = []
        await service.add("OTHER_KEY", _KEY)
        noted.append(read_first_run(folder))
        await service.add(PROVIDER_KEY, _KEY)
        noted.append(read_first_run(folder))
        await service.remove(PROVIDER_KEY)
        noted.append(read_first_run(folder))
    assert [None if one is None else (one.name, one.key) for one in noted] == [
        ("Ada", False),
        ("Ada", True),
        ("Ada", False),
    ]
