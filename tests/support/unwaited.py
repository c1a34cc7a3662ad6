"""No test waits for the disk: none cuts the power, so what the kernel took is what there is.

To wait until a disk confirms took a good part of the time of whatever opens a home. Processes that
a test starts wait as they do at their owner's, and so does a test that asks for `the_disk`.
"""

import os

import pytest

_ASKED = ("silas.db._ORDERED", "silas.db._DURABLE")


def not_waited_for(patch: pytest.MonkeyPatch) -> None:
    """From now on this process leaves it to the kernel when a file reaches the disk."""
    patch.setattr(os, "fsync", _taken)
    for name in _ASKED:
        patch.setattr(name, "PRAGMA synchronous=OFF")


def _taken(descriptor: int) -> None:
    os.fstat(descriptor)  # a descriptor that is closed is an error all the same
