"""Days of the week and months: how English writes them, and what they are in Chinese."""

# Mon and Monday as 周一
DAYS = {
    day: f"周{character}"
    for days, character in zip(
        (
            ("Mon", "Monday", "Mo"),
            ("Tue", "Tues", "Tuesday", "Tu"),
            ("Wed", "Weds", "Wednesday", "We"),
            ("Thu", "Thur", "Thurs", "Thursday", "Th"),
            ("Fri", "Friday", "Fr"),
            ("Sat", "Saturday", "Sa"),
            ("Sun", "Sunday", "Su"),
        ),
        "一二三四五六日",
        strict=True,
    )
    for day in days
}
_MONTHS = (
    ("January", "Jan"),
    ("February", "Feb"),
    ("March", "Mar"),
    ("April", "Apr"),
    ("May",),
    ("June", "Jun"),
    ("July", "Jul"),
    ("August", "Aug"),
    ("September", "Sept", "Sep"),
    ("October", "Oct"),
    ("November", "Nov"),
    ("December", "Dec"),
)
# The number of each month, by its name and abbreviations.
MONTHS = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names}
MONTH_BY_SHORT_NAME = {names[0][:3]: names[0] for names in _MONTHS}
