"""How the length of a transform is split into those of its passes and radices. Integers in, integers out."""

from __future__ import annotations

import functools
import math

PRIMES = (2, 3, 5, 7, 11, 13)
LARGEST_RADIX = 16  # what an invocation transforms in registers: every length up to this


@functools.lru_cache(maxsize=4096)
def prime_factors(n: int) -> tuple[int, ...] | None:
    """The prime factors of n, largest first; None when one of them is too large for registers."""
    found: list[int] = []
    for prime in PRIMES:
        while n % prime == 0:
            found.append(prime)
            n //= prime
    return tuple(reversed(found)) if n == 1 else None


@functools.lru_cache(maxsize=4096)
def split(n: int, limit: int) -> tuple[int, ...]:
    """The fewest factors of n, none above `limit` but primes, as equal as the primes allow; largest first.

    n has small prime factors. Each prime, largest first, goes to the factor that is smallest so far.
    """
    primes = prime_factors(n)
    if primes is None:
        raise ValueError(f"{n} has a prime factor above {PRIMES[-1]}.")
    parts = 1
    while True:
        factors = [1] * parts
        for prime in primes:
            factors[factors.index(min(factors))] *= prime
        if all(factor <= limit or factor in PRIMES for factor in factors):
            return tuple(sorted(factors, reverse=True))
        parts += 1


def is_power_of_two(n: int) -> bool:
    """Whether the positive number n is one."""
    return n & (n - 1) == 0


@functools.lru_cache(maxsize=4096)
def smooth_length(least: int) -> int:
    """The smallest number from `least` on of the form 2^a 3^b 5^c with b <= 2 and c <= 1."""
    odd_parts = (3**b * 5**c for b in range(3) for c in range(2))
    return min(odd << max(0, math.ceil(least / odd) - 1).bit_length() for odd in odd_parts)
