"""Leap years, weekdays and months as arithmetic on arrays."""


def main(np):
    years = np.arange(1896, 1912)
    leap = ((years % 4 == 0) & (years % 100 != 0)) | (years % 400 == 0)
    days = np.where(leap, 366, 365)
    month_days = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    first = np.concatenate([[0], np.cumsum(month_days)[:-1]])

    def weekday(y, m, d):  # Zeller's congruence, 0 is Saturday
        y = np.where(m < 3, y - 1, y)
        m = np.where(m < 3, m + 12, m)
        return (d + 13 * (m + 1) // 5 + y % 100 + y % 100 // 4 + y // 100 // 4 + 5 * (y // 100)) % 7

    months = np.arange(1, 13)
    thirteenth = weekday(np.full(12, 2024), months, np.full(12, 13))
    day_of_year = 200
    month = np.searchsorted(first, day_of_year, side="right")
    page = np.zeros(42, dtype=int)
    page[2:33] = np.arange(1, 32)
    page = page.reshape(6, 7)
    text = "\n".join(" ".join(f"{d:2d}" if d else "  " for d in week) for week in page)
    seconds = np.array([59, 3600, 86399, 90061])
    minutes, s = np.divmod(seconds, 60)
    hours, minutes = np.divmod(minutes, 60)
    clock = ["%02d:%02d:%02d" % (h, m, sec) for h, m, sec in zip(hours, minutes, s)]
    a = years % 19
    easter = (19 * a + 24) % 30
    return {
        "leap": years[leap],
        "total": days.sum(),
        "first": first,
        "fridays": months[thirteenth == 6],
        "date": (int(month), int(day_of_year - first[month - 1])),
        "text": text,
        "sundays": page[:, -1],
        "clock": clock,
        "easter": easter,
        "century": np.floor_divide(years, 100),
        "negative": np.mod(-years[:3], 7),
    }
