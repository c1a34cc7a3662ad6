"""QR codes as plain rows, for a terminal and for a page."""

import segno

QUIET = 4
"""Light modules around a code, as the standard has it."""


def qr_rows(text: str) -> tuple[str, ...]:
    """A code with this text: rows of `1` (dark) and `0`, with `QUIET` light ones all around."""
    code = segno.make_qr(text, error="l")
    return tuple(
        "".join("1" if module else "0" for module in row) for row in code.matrix_iter(border=QUIET)
    )
