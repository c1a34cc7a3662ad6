"""A disk that can only be read, or is full, at the delivery of work is told as what it is."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from silas.testing import Harness, ScriptedChannel
from tests.stream.kit import saying_yes, soon

WRITES = ("fchmod", "mkdir", "open", "rename", "rmdir", "symlink", "unlink", "utime")
CREATES = os.O_CREAT | os.O_WRONLY | os.O_RDWR


def refuse_writing(place: Path, number: int, after: int, patch: pytest.MonkeyPatch) -> None:
    """From the call after so many on, the disk of `place` refuses what this process writes."""
    seen: list[str] = []

    def lies_there(descriptor: object) -> bool:
        if not isinstance(descriptor, int):
            return False
        return Path(os.readlink(f"/proc/self/fd/{descriptor}")).is_relative_to(place)

    def guarded(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            at = more.get("dir_fd", more.get("src_dir_fd"))
            at = args[0] if name in ("fchmod", "utime") else at
            if lies_there(at) and (name != "open" or args[1] & CREATES):
                seen.append(name)
                if len(seen) > after:
                    raise OSError(number, os.strerror(number))
            return real(*args, **more)

        return call

    for name in WRITES:
        patch.setattr(os, name, guarded(name, getattr(os, name)))


@pytest.mark.parametrize(
    ("number", "after", "sentence"),
    [
        (errno.EROFS, 0, "could not be written (its disk can only be read); the directory is as"),
        (errno.ENOSPC, 0, "could not be written (the disk is full); the directory is as before"),
        (errno.EROFS, 2, "is half-way, as writing and taking back failed (its disk can only be"),
        (errno.ENOSPC, 2, "is half-way, as writing and taking back failed (the disk is full)"),
    ],
)
async def test_what_the_disk_refused_at_delivery_is_told(
    number: int, after: int, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    (place / "Downloads").mkdir(parents=True)
    for name in ("a.pdf", "b.pdf"):
        (place / "Downloads" / name).write_text(name)
    asked = "move all pdf files from Downloads to Papers"
    async with Harness(ScriptedChannel(saying_yes), home=home) as h:
        with monkeypatch.context() as patch:
            refuse_writing(place, number, after, patch)
            reply = await soon(h.silas.ask(asked, workspace=place))
            assert reply.plan is not None, reply.text
            done = await soon(h.silas.wait(reply.plan.id))
        assert done is not None
        assert sentence in f"{done.summary} {done.last_error}"
        assert "another program" not in f"{done.summary} {done.last_error}"
        # the disk can be written again: what was half-way is taken back, and the same goes on
        again = await soon(h.silas.ask(asked, workspace=place))
        assert again.plan is not None, again.text
        await soon(h.silas.wait(again.plan.id))
    assert sorted(one.name for one in (place / "Papers").iterdir()) == ["a.pdf", "b.pdf"]
