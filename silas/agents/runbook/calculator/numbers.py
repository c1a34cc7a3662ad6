"""Numbers as people write them, read exactly and written back exactly where that is possible."""

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Final

NUMBER: Final = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?|\.\d+)"
"""`1250`, `1,250.5`, `0.75`, `.5`, and with a decimal comma `3,5`."""

_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DIGITS: Final = 24  # significant digits of an exact decimal that is written out
_ROUNDED: Final = 10  # significant digits of every other


class NumberError(ValueError):
    """A number is written in a way that is not read."""


def parse_number(text: str) -> Fraction:
    """The value. Raises `NumberError` for more than 40 digits, or a leading zero as in `007`."""
    plain = text.replace(",", "") if _GROUPED.fullmatch(text) else text.replace(",", ".")
    if len(plain) > 40 or re.match(r"0\d", plain):
        raise NumberError(text)
    return Fraction(plain)


def format_number(value: Fraction, *, exact: bool = True) -> str:
    """The value in decimals, beginning with `about` where they are not all of it."""
    if exact and value.denominator == 1 and abs(value.numerator) < 10**_DIGITS:
        return str(value.numerator)
    with localcontext() as ctx:
        ctx.prec = 60
        wide = Decimal(value.numerator) / Decimal(value.denominator)
        whole = Fraction(wide) == value and len(wide.normalize().as_tuple().digits) <= _DIGITS
        if exact and whole and abs(wide.adjusted()) < _DIGITS:
            return f"{wide.normalize():f}"
        ctx.prec = _ROUNDED
        short = (+wide).normalize()
    far = abs(short.adjusted()) > 15
    return f"about {short:e}" if far else f"about {short:f}"
