"""The names of days and months."""

from silas.language.catalogue import tr_later

WEEKDAYS = (
    tr_later("Monday"),
    tr_later("Tuesday"),
    tr_later("Wednesday"),
    tr_later("Thursday"),
    tr_later("Friday"),
    tr_later("Saturday"),
    tr_later("Sunday"),
)
"""From Monday on, as `datetime.weekday` counts."""

MONTHS = (
    tr_later("January"),
    tr_later("February"),
    tr_later("March"),
    tr_later("April"),
    tr_later("May"),
    tr_later("June"),
    tr_later("July"),
    tr_later("August"),
    tr_later("September"),
    tr_later("October"),
    tr_later("November"),
    tr_later("December"),
)
