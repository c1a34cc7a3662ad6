"""The reference page of the protocol says what the frames' models say."""

from pathlib import Path

from scripts.protocol import page

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_is_made_from_the_frames_as_they_are() -> None:
    assert (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8") == page()
