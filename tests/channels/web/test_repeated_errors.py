"""Errors that come again and again are a few lines."""

import logging

import pytest

from silas.channels.web.repeated_errors import count_repeated_errors

LOG = logging.getLogger("asyncio")


def _fail(words: str) -> None:
    try:
        raise OSError(24, words)
    except OSError:
        LOG.exception("a flood at %s\nand more", words)


def test_an_error_that_repeats_is_told_whole_once_and_then_as_a_number_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with count_repeated_errors() as repeats:
        for number in range(1000):
            _fail(f"{number}")
        LOG.error("another kind")
        assert len(caplog.records) == 2
        assert caplog.records[0].exc_info is not None
        repeats.tell()
        assert "(999 more of these since the last line)" in caplog.messages[2]
        _fail("still")
        repeats.tell()  # a minute in which it came once more
        repeats.tell()  # and a quiet one: the next is whole again
        _fail("news")
        assert caplog.records[-1].exc_info is not None
        _fail("the last")
    assert "(1 more of these" in caplog.messages[-1]
    assert len(caplog.records) == 6


def test_kinds_without_end_are_counted_together(caplog: pytest.LogCaptureFixture) -> None:
    with count_repeated_errors():
        for number in range(5000):
            LOG.error(f"{number} is new")
    assert len(caplog.records) < 50
    assert "more of these" in caplog.messages[-1]
