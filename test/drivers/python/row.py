# A row of the table in doc/drivers.md, printed. `person` is a row as it was read: id, disk, post, number. Each of id,
# list and time has ways to ask for that person, by the words of the table: the first that finds exactly one counts.
from datetime import datetime, timedelta, timezone

since = datetime.now(timezone.utc) - timedelta(hours=1)


def first(ways, failed):
    for name, ask in ways.items():
        try:
            if len(ask()) == 1:
                return name
        except Exception as error:
            if failed(error) not in ("22P02", "42883", "42804"):
                raise
    return "nothing works"


def row(person, id, list, time, diff="", failed=lambda error: getattr(error, "pgcode", None)):
    ids = dict.fromkeys(type(value).__name__ for value in person[:3])
    ways = [first(ways, failed) for ways in (id, list, time)]
    print(" | ".join(["/".join(ids), type(person[3]).__name__] + ways + [diff]))
