"""Word lists for English time expressions: months, weekdays, units, numbers, parts of the day."""

from __future__ import annotations

import calendar

from cognigraph.english.words import NUMBERS, word_set

MONTHS = {
    name.lower(): number
    for number in range(1, 13)
    for name in (calendar.month_name[number], calendar.month_abbr[number])
} | {"sept": 9}
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        ("monday mon", "tuesday tue tues", "wednesday wed weds", "thursday thu thur thurs",
         "friday fri", "saturday sat", "sunday sun")
    )
    for name in (*names.split(), names.split()[0] + "s")
}  # fmt: skip
UNITS = {
    "day": "day", "days": "day", "week": "week", "weeks": "week", "wk": "week",
    "weekend": "weekend", "weekends": "weekend", "month": "month", "months": "month",
    "year": "year", "years": "year", "yr": "year", "yrs": "year", "night": "night",
    "nights": "night", "decade": "decade", "decades": "decade", "fortnight": "fortnight",
    "fortnights": "fortnight", "hour": "hour", "hours": "hour", "minute": "minute",
    "minutes": "minute", "mins": "minute",
}  # fmt: skip
COUNTS = NUMBERS | {
    "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60,
}  # fmt: skip
ORDINALS = {
    word: number
    for number, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
        thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth
        twentieth""".split(), 1
    )
}  # fmt: skip
DAYPARTS = word_set("morning afternoon evening night")
SIMPLE = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
