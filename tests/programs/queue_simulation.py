"""Queues, inventories and loans: running totals, resets, recurrences by accumulate, schedules, meeting rooms."""


def main(np):
    arrive = np.cumsum([0, 2, 1, 4, 1, 1, 3, 2])
    service = np.array([3, 3, 2, 1, 4, 2, 1, 2])
    finish = np.zeros_like(arrive)
    for i in range(len(arrive)):
        finish[i] = max(arrive[i], finish[i - 1] if i else 0) + service[i]
    offset = np.cumsum(service) - service
    again = np.maximum.accumulate(arrive - offset) + offset + service
    wait = finish - service - arrive
    demand = np.array([4, 7, 2, 9, 3, 8])
    stock, orders = [], []
    level = 10
    for d in demand:
        level -= min(level, d)
        order = 12 if level < 5 else 0
        orders.append(order)
        level += order
        stock.append(level)
    stock = np.array(stock)
    rate, years, loan = 0.05, 5, 1000.0
    payment = loan * rate / (1 - (1 + rate) ** -years)
    balance = loan * (1 + rate) ** np.arange(years + 1) - payment * ((1 + rate) ** np.arange(years + 1) - 1) / rate
    starts, ends = np.array([9, 10, 10, 12, 13]), np.array([11, 12, 13, 14, 15])
    events = np.concatenate((np.column_stack((starts, np.ones(5, int))), np.column_stack((ends, -np.ones(5, int)))))
    events = events[np.lexsort((events[:, 1], events[:, 0]))]
    runs = np.array([1, 1, 0, 1, 1, 1, 0, 0, 1])
    change = np.flatnonzero(np.diff(runs, prepend=0, append=0))
    total = np.cumsum(runs)
    streak = total - np.maximum.accumulate(np.where(runs == 0, total, 0))
    return {
        "finish": finish,
        "again": again,
        "wait": wait.mean(),
        "longest": wait.max(),
        "busy": service.sum() / finish[-1],
        "in queue": np.searchsorted(np.sort(arrive), finish, side="right") - np.arange(1, 9),
        "stock": stock,
        "orders": orders,
        "balance": balance,
        "paid": np.isclose(balance[-1], 0, atol=1e-2),
        "rooms": events[:, 1].cumsum().max(),
        "runs": change.reshape(-1, 2),
        "streak": streak,
        "gaps": np.ediff1d(starts, to_begin=0),
        "type": type(int(wait.max())).__name__,
    }
