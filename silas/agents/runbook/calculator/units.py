"""Units: one table of exact factors, and temperatures."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Final, NamedTuple

from silas.agents.runbook.calculator.numbers import NUMBER, NumberError, format_number, parse_number
from silas.language import tr


class Unit(NamedTuple):
    """A unit: what it measures, its size in the base of that, and how it is written."""

    measures: str
    size: Fraction
    shown: str

    def of(self, number: Fraction) -> str:
        """The unit behind a number: `1 day`, `1.5 days`, `1 ms`."""
        plural = self.shown.endswith("s") and len(self.shown) > len("ms") and "/" not in self.shown
        return self.shown[:-1] if plural and abs(number) == 1 else self.shown


# measure, exact size in the base unit, how it is shown, further names in lower case
_TABLE: Final = """
length | 0.001 | mm | millimetre millimetres millimeter millimeters
length | 0.01 | cm | centimetre centimetres centimeter centimeters
length | 1 | m | metre metres meter meters
length | 1000 | km | kilometre kilometres kilometer kilometers kms
length | 0.0254 | in | inch inches
length | 0.3048 | ft | foot feet
length | 0.9144 | yd | yard yards
length | 1609.344 | miles | mile mi
length | 1852 | nautical miles | nautical_mile nmi
mass | 0.001 | mg | milligram milligrams
mass | 1 | g | gram grams gramme grammes
mass | 1000 | kg | kilo kilos kilogram kilograms kgs
mass | 1000000 | t | tonne tonnes metric_ton metric_tons
mass | 453.59237 | lb | lbs pound pounds
mass | 28.349523125 | oz | ounce ounces
mass | 6350.29318 | stone | st stones
volume | 1 | ml | millilitre millilitres milliliter milliliters
volume | 10 | cl | centilitre centilitres centiliter centiliters
volume | 1000 | l | litre litres liter liters
volume | 1000000 | m³ | m3 cubic_metre cubic_metres cubic_meter cubic_meters
volume | 3785.411784 | US gal | gal gallon gallons us_gallon us_gallons
volume | 4546.09 | UK gal | uk_gal uk_gallon uk_gallons imperial_gallon imperial_gallons
volume | 946.352946 | US qt | qt quart quarts
volume | 473.176473 | US pt | pint pints us_pint us_pints
volume | 568.26125 | UK pt | uk_pint uk_pints imperial_pint imperial_pints
volume | 236.5882365 | US cups | cup cups us_cup
volume | 29.5735295625 | US fl oz | fl_oz fluid_ounce fluid_ounces
volume | 14.78676478125 | US tbsp | tbsp tablespoon tablespoons
volume | 4.92892159375 | US tsp | tsp teaspoon teaspoons
area | 0.0001 | cm² | cm2 square_centimetre square_centimetres
area | 1 | m² | m2 sqm square_metre square_metres square_meter square_meters
area | 1000000 | km² | km2 square_kilometre square_kilometres square_kilometers
area | 10000 | ha | hectare hectares
area | 0.09290304 | sq ft | ft2 ft² sqft square_foot square_feet
area | 4046.8564224 | acres | acre
area | 2589988.110336 | sq miles | square_mile square_miles
speed | 1/3.6 | km/h | kmh kph kilometres_per_hour kilometers_per_hour
speed | 0.44704 | mph | miles_per_hour
speed | 1 | m/s | metres_per_second meters_per_second
speed | 1.852/3.6 | knots | knot kn
time | 0.001 | ms | millisecond milliseconds
time | 1 | s | sec secs second seconds
time | 60 | min | mins minute minutes
time | 3600 | h | hr hrs hour hours
time | 86400 | days | day
time | 604800 | weeks | week
energy | 1 | J | joule joules
energy | 1000 | kJ | kilojoule kilojoules
energy | 4184 | kcal | kilocalorie kilocalories
energy | 3600000 | kWh | kilowatt_hour kilowatt_hours
pressure | 100000 | bar | bars
pressure | 100 | hPa | hectopascal mbar millibar
pressure | 6894.757293168 | psi          |
data | 1 | bytes | byte
data | 0.125 | bits | bit
data | 1000 | kB | kilobyte kilobytes
data | 1000000 | MB | megabyte megabytes
data | 1000000000 | GB | gigabyte gigabytes
data | 1000000000000 | TB | terabyte terabytes
data | 1024 | KiB | kibibyte kibibytes
data | 1048576 | MiB | mebibyte mebibytes
data | 1073741824 | GiB | gibibyte gibibytes
data | 1099511627776 | TiB | tebibyte tebibytes
data | 125 | kbit | kilobit kilobits
data | 125000 | Mbit | megabit megabits
data | 125000000 | Gbit | gigabit gigabits
warmth | 1 | °C | c celsius degrees_celsius degrees_c
warmth | 1 | °F | f fahrenheit degrees_fahrenheit degrees_f
warmth | 1 | K | kelvin
"""


def _parse_size(text: str) -> Fraction:
    over, _, under = text.partition("/")
    return Fraction(over) / Fraction(under or 1)


def _units() -> Mapping[str, Unit]:
    found = dict[str, Unit]()
    for line in _TABLE.strip().split("\n"):
        measures, size, shown, names = (one.strip() for one in line.split("|"))
        unit = Unit(measures, _parse_size(size), shown)
        for name in (shown.lower(), *(one.replace("_", " ") for one in names.split())):
            found[name] = unit
    return found


UNITS: Final = _units()
"""Units by their names in lower case."""

_MEGABITS: Final = re.compile(r"[kMGT]b")
"""Bits for one reader and bytes for another: not taken."""

_NAME: Final = "|".join(
    re.escape(name).replace(r"\ ", r"\s+") for name in sorted(UNITS, key=len, reverse=True)
)
_AMOUNT: Final = (
    rf"(?P<sign>-|minus\s+)?(?P<number>{NUMBER}|an?|one|half\s+an?)\s*(?P<unit>{_NAME})"
)
_AND: Final = rf"(?:(?:\s+and)?\s+(?P<more>{NUMBER})\s*(?P<less>{_NAME}))?"
_FORMS: Final = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?:what(?:'s| is| are)\s+|how\s+much\s+(?:is|are)\s+|convert\s+|change\s+)?"
        rf"{_AMOUNT}{_AND}\s+(?:is\s+)?(?:in|to|into|as)\s+(?P<to>{_NAME})",
        rf"how\s+many\s+(?P<to>{_NAME})\s+(?:(?:is|are)\s+)?(?:there\s+)?(?:in\s+)?{_AMOUNT}{_AND}",
        rf"{_AMOUNT}{_AND}\s+(?:is|are|makes?)\s+how\s+many\s+(?P<to>{_NAME})",
        rf"(?:what(?:'s| is)\s+)?{_AMOUNT}{_AND}\s*=\s*(?:how\s+many\s+)?(?P<to>{_NAME})",
    )
)


def answer(said: str) -> str | None:
    """The amount in the other unit; None where the request asks for none."""
    found = next((match for form in _FORMS if (match := form.fullmatch(said))), None)
    if found is None or any(_MEGABITS.fullmatch(found[name]) for name in ("unit", "to")):
        return None
    source, target = UNITS[_plain(found["unit"])], UNITS[_plain(found["to"])]
    less = UNITS[_plain(found["less"])] if found["less"] else None
    if less is not None and (less.measures != source.measures or less.size >= source.size):
        return None
    if source.measures != target.measures:
        return tr(
            "{shown} and {shown2} measure different things ({measures} and "
            "{measures2}), so there is nothing to convert.",
            shown=source.shown,
            shown2=target.shown,
            measures=source.measures,
            measures2=target.measures,
        )
    try:
        amount, more = (
            _amount(found["number"]),
            parse_number(found["more"]) if less else Fraction(0),
        )
    except NumberError:
        return None
    signed = -amount if found["sign"] else amount
    shown = f"{format_number(signed)} {source.of(signed)}"
    if source.measures == "warmth":
        value = _from_celsius(_to_celsius(signed, source.shown), target.shown)
        low = _to_celsius(signed, source.shown) < Fraction("-273.15")
        return (
            tr("Nothing is colder than -273.15 °C.")
            if low
            else _conversion_words(shown, value, target)
        )
    if less is not None:
        shown += f" {format_number(more)} {less.of(more)}"
        signed += (-more if found["sign"] else more) * less.size / source.size
    return _conversion_words(shown, signed * source.size / target.size, target)


def _conversion_words(shown: str, value: Fraction, target: Unit) -> str:
    return f"{shown} = {format_number(value)} {target.of(value)}"


def _amount(text: str) -> Fraction:
    words = text.lower()
    if words[0].isalpha():
        return Fraction(1, 2) if words.startswith("half") else Fraction(1)
    return parse_number(text)


def _plain(name: str) -> str:
    return " ".join(name.lower().split())


def _to_celsius(value: Fraction, unit: str) -> Fraction:
    match unit:
        case "°F":
            return (value - 32) * Fraction(5, 9)
        case "K":
            return value - Fraction("273.15")
        case _:
            return value


def _from_celsius(value: Fraction, unit: str) -> Fraction:
    match unit:
        case "°F":
            return value * Fraction(9, 5) + 32
        case "K":
            return value + Fraction("273.15")
        case _:
            return value
