"""Calculations: a grammar of numbers, four operations, powers, roots and percentages."""

import math
import re
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Final, NamedTuple

from silas.agents.runbook.calculator.numbers import NUMBER, NumberError, format_number, parse_number
from silas.language import tr

_BITS: Final = 4000
"""Size of a number on the way, about 1,200 digits: a request cannot keep the machine busy."""
_DEPTH: Final = 30  # brackets within brackets

_ASKED: Final = re.compile(
    r"\A(?:what(?:'s| is| are| does| do)?|calculate|compute|work out|how much (?:is|are|does|do)|"
    r"evaluate|solve)\s+(?P<sum>.+?)(?:\s+(?:make|equal|come to|is|are))?\Z",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}|\d{3,}(?:-\d+)+|24/7")
"""A date, a telephone number or a saying, where nobody asked for a calculation."""

_COUNTED: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip
_WORDS: Final = (
    (r"(?:the )?square root of", " sqrt "),
    (r"(?:the )?cube root of", " cbrt "),
    (r"(?:raised )?to the power(?: of)?", " ^ "),
    (r"squared", " ^ 2 "),
    (r"cubed", " ^ 3 "),
    (r"multiplied by|times", " * "),
    (r"divided by", " / "),
    (r"per ?cent", " % "),
    (r"half of", " 0.5 * "),
    (r"a quarter of", " 0.25 * "),
    (r"plus", " + "),
    (r"minus", " - "),
    *((word, f" {number} ") for number, word in enumerate(_COUNTED)),
)
_SIGNS: Final = str.maketrans({"×": "*", "÷": "/", "·": "*", "−": "-", "–": "-"})
_TOKEN: Final = re.compile(
    rf"\s*(?:(?P<number>{NUMBER})|(?P<sign>\*\*|[-+*/^()%√]|sqrt|cbrt|of|x\b))"
)


class _NoSum(ValueError):
    """The text is no calculation."""


class _Refused(ValueError):
    """It is one that is not done; the message says why."""


class _Value(NamedTuple):
    """A value on the way: whether it is exact, and whether it is a bare percentage."""

    number: Fraction
    exact: bool = True
    percent: bool = False


def answer(said: str) -> str | None:
    """The calculation and its result; None where the request is no calculation."""
    asked = _ASKED.match(said)
    text = asked["sum"] if asked else said
    if not asked and _DATE.fullmatch(text):
        return None
    try:
        tokens = _tokens(text)
        if not any(one in _DOES for one in tokens):
            return None  # a number alone asks nothing
        value = _Reader(tokens).whole()
    except (_NoSum, NumberError):
        return None
    except _Refused as error:
        return tr("I cannot calculate that: {why}", why=error)
    shown = " ".join(tokens).replace("( ", "(").replace(" )", ")")
    return f"{shown} = {format_number(value.number, exact=value.exact)}"


_DOES: Final = frozenset({"+", "-", "*", "/", "^", "%", "sqrt", "cbrt"})


def _tokens(text: str) -> list[str]:
    plain = text.translate(_SIGNS).lower()
    for words, sign in _WORDS:
        plain = re.sub(rf"(?<!\w)(?:{words})(?!\w)", sign, plain)
    plain = plain.strip()
    found, at = list[str](), 0
    while at < len(plain):
        token = _TOKEN.match(plain, at)
        if token is None:
            raise _NoSum(plain)
        one = token["number"] or token["sign"]
        found.append({"**": "^", "x": "*", "√": "sqrt"}.get(one, one))
        at = token.end()
    return found


class _Reader:
    """Reads tokens by recursive descent; every step is bounded."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def whole(self) -> _Value:
        """The value of all tokens."""
        value = self._sum()
        if self._at != len(self._tokens):
            raise _NoSum
        return value

    def _sum(self) -> _Value:
        value = self._product()
        while (sign := self._take("+", "-")) is not None:
            other = self._product()
            by = other.number * value.number if other.percent else other.number
            total = value.number + by if sign == "+" else value.number - by
            value = _bounded_value(total, value.exact and other.exact)
        return value

    def _product(self) -> _Value:
        value = self._signed_value()
        while (sign := self._take("*", "/", "of")) is not None:
            if sign == "of" and not value.percent:
                raise _NoSum
            other = self._signed_value()
            if sign == "/" and other.number == 0:
                raise _Refused(tr("nothing can be divided by zero."))
            by = other.number if sign != "/" else 1 / other.number
            value = _bounded_value(value.number * by, value.exact and other.exact)
        return value

    def _signed_value(self) -> _Value:
        sign = self._take("-", "+")
        if sign is None:
            return self._power()
        self._deeper()
        value = self._signed_value()
        self._depth -= 1
        return value._replace(number=-value.number) if sign == "-" else value

    def _power(self) -> _Value:
        base = self._single()
        if self._take("^") is None:
            return base
        self._deeper()
        exponent = self._signed_value()
        self._depth -= 1
        return _power_of(base, exponent)

    def _single(self) -> _Value:
        if (name := self._take("sqrt", "cbrt")) is not None:
            self._deeper()
            value = _ROOTS[name](self._single())
            self._depth -= 1
            return value
        if self._take("(") is not None:
            self._deeper()
            value = self._sum()
            self._depth -= 1
            if self._take(")") is None:
                raise _NoSum
        elif self._at < len(self._tokens) and self._tokens[self._at][-1].isdigit():
            value = _Value(parse_number(self._tokens[self._at]))
            self._at += 1
        else:
            raise _NoSum
        if self._take("%") is None:
            return value
        return _Value(value.number / 100, value.exact, percent=True)

    def _take(self, *signs: str) -> str | None:
        if self._at < len(self._tokens) and self._tokens[self._at] in signs:
            self._at += 1
            return self._tokens[self._at - 1]
        return None

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _DEPTH:
            raise _Refused(tr("more than {depth} brackets stand within each other.", depth=_DEPTH))


def _bounded_value(number: Fraction, exact: bool) -> _Value:
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _BITS:
        raise _Refused(tr("a number on the way is too large."))
    return _Value(number, exact)


def _power_of(base: _Value, exponent: _Value) -> _Value:
    number, power = base.number, exponent.number
    if power.denominator != 1:
        words = tr("I know powers with whole numbers only, and square and cube roots.")
        raise _Refused(words)
    if number == 0 and power < 0:
        raise _Refused(tr("nothing can be divided by zero."))
    size = max(number.numerator.bit_length(), number.denominator.bit_length())
    # before it is computed: afterwards would be too late
    if abs(power) * size > _BITS:
        raise _Refused(tr("a number on the way is too large."))
    return _bounded_value(number ** int(power), base.exact)


def _root(value: _Value, of: int) -> _Value:
    number = value.number
    if number < 0:
        raise _Refused(tr("I know no root of a negative number."))
    parts = _whole_root(number.numerator, of), _whole_root(number.denominator, of)
    if parts[0] ** of == number.numerator and parts[1] ** of == number.denominator:
        return _Value(Fraction(parts[0], parts[1]), value.exact)
    with localcontext() as ctx:
        ctx.prec = 50
        wide = Decimal(number.numerator) / Decimal(number.denominator)
        root = wide.sqrt() if of == 2 else wide ** (Decimal(1) / 3)
    return _Value(Fraction(root).limit_denominator(10**40), exact=False)


def _whole_root(number: int, of: int) -> int:
    """The largest whole number whose power is at most this one."""
    if of == 2:
        return math.isqrt(number)
    low, high = 0, 1 << (number.bit_length() // of + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**of <= number else (low, middle - 1)
    return low


_ROOTS: Final[dict[str, Callable[[_Value], _Value]]] = {
    "sqrt": lambda value: _root(value, 2),
    "cbrt": lambda value: _root(value, 3),
}
