"""Primes by a sieve, factors, divisors and perfect numbers."""


def sieve(np, n):
    is_prime = np.ones(n + 1, dtype=bool)
    is_prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = False
    return np.nonzero(is_prime)[0]


def main(np):
    primes = sieve(np, 200)
    gaps = np.diff(primes)
    n = 2 * 2 * 3 * 7 * 13
    factors = []
    rest = n
    for p in primes:
        while rest % p == 0:
            factors.append(int(p))
            rest //= p
        if rest == 1:
            break
    numbers = np.arange(1, 500)
    divides = (numbers[:, None] % numbers[:60]) == 0
    sigma = np.zeros(500, dtype=int)
    for d in range(1, 500):
        sigma[d::d] += d
    perfect = [i for i in range(2, 500) if sigma[i] == 2 * i]
    twins = primes[:-1][gaps == 2]
    fib = np.zeros(40, dtype=np.int64)
    fib[:2] = 1
    for i in range(2, 40):
        fib[i] = fib[i - 1] + fib[i - 2]
    return {
        "primes": primes,
        "gaps": np.bincount(gaps),
        "factors": factors,
        "perfect": perfect,
        "twins": twins,
        "divisors": divides.sum(axis=0)[:10],
        "pi": len(primes),
        "product": np.prod(np.array(factors)),
        "gcd": np.gcd(numbers[:12], 12),
        "lcm": np.lcm.reduce(np.arange(1, 11)),
        "fib": fib[-1],
        "golden": fib[-1] / fib[-2],
        "last_digits": np.unique(primes % 10, return_counts=True),
    }
