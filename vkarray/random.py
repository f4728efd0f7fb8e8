"""Random numbers that are the same bits on every device: `default_rng`, and functions of one generator for all.

The names are those of `numpy.random`, the numbers are not NumPy's: `Philox` stands for all of its bit generators.

>>> generator = vx.random.default_rng(2026)
>>> generator.integers(1, 7, size=5)
array([...])
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from ._vk import open_device
from .ops.beyond.random import Generator, Philox, RandomState, observer, unwatched

if TYPE_CHECKING:
    from numpy.random import SeedSequence

__all__ = [
    "MT19937", "PCG64", "PCG64DXSM", "SFC64", "BitGenerator", "Generator", "Philox", "RandomState", "SeedSequence", "beta",
    "binomial", "bytes", "chisquare", "choice", "default_rng", "dirichlet", "exponential", "f", "gamma", "geometric",
    "get_state", "gumbel", "hypergeometric", "integers", "laplace", "logistic", "lognormal", "logseries", "multinomial",
    "multivariate_normal", "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto", "permutation",
    "poisson", "power", "rand", "randint", "randn", "random", "random_integers", "random_sample", "ranf", "rayleigh", "sample",
    "seed", "set_state", "shuffle", "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal", "standard_t",
    "triangular", "uniform", "vonmises", "wald", "weibull", "zipf",
]  # fmt: skip

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

BitGenerator = Philox
MT19937 = PCG64 = PCG64DXSM = SFC64 = Philox  # for programs that name one; the numbers are those of Philox4x32-10


def __getattr__(name: str) -> Any:
    """NumPy's `SeedSequence`: it makes seeds on the host, and NumPy is imported when it is asked for."""
    if name == "SeedSequence":
        from numpy.random import SeedSequence

        return SeedSequence
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def default_rng(seed: Any = None, *, device: Any = None) -> Generator:
    """A new generator of random numbers.

    Parameters: seed (an integer of 0 or more, a sequence of them, a `SeedSequence`, or None for one from the system; a `Generator`
    is returned as it is, a `Philox` or a `RandomState` gives a generator of its stream); device (of the arrays that it makes).
    Raises TypeError and ValueError for another seed.
    """
    if isinstance(seed, Generator):
        return seed
    return Generator(seed.bit_generator if isinstance(seed, RandomState) else seed, device=device)


_generator: RandomState | None = None
_lock = threading.RLock()  # a signal handler may draw, too


def seed(seed: Any = None) -> None:
    """Start the generator of this module's functions anew from a seed (None: one from the system, as at first).

    Errors as for `default_rng`.
    """
    global _generator
    made = _shared()
    made.seed(seed)  # of one stream for all seeds, which programs go on with
    with _lock:
        _generator = RandomState(made.bit_generator)


def _shared() -> RandomState:
    """The generator of this module's functions, on the default device. Its stream goes on where that is another one by now."""
    global _generator
    with _lock:
        if _generator is None:
            with unwatched():  # later calls go on with it
                _generator = RandomState()
        elif _generator.device is not open_device():
            _generator = RandomState(_generator.bit_generator)
        return _generator


def _of_module(method: Callable[Concatenate[RandomState, _Parameters], _Result]) -> Callable[_Parameters, _Result]:
    """A method of the generator that this module's functions share, which is made at the first call.

    A profile sees the function, and a tape the method with the generator.
    """

    @functools.wraps(method)
    def function(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
        if (seen := observer()) is not None:
            found: _Result = seen.call(function, arguments, options)  # which hears of nothing in it
            return found
        return method(_shared(), *arguments, **options)

    signature = inspect.signature(method)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    vars(function)["__signature__"] = signature.replace(parameters=own)
    return function


beta = _of_module(RandomState.beta)
binomial = _of_module(RandomState.binomial)
bytes = _of_module(RandomState.bytes)
chisquare = _of_module(RandomState.chisquare)
choice = _of_module(RandomState.choice)
dirichlet = _of_module(RandomState.dirichlet)
exponential = _of_module(RandomState.exponential)
f = _of_module(RandomState.f)
gamma = _of_module(RandomState.gamma)
geometric = _of_module(RandomState.geometric)
get_state = _of_module(RandomState.get_state)
gumbel = _of_module(RandomState.gumbel)
hypergeometric = _of_module(RandomState.hypergeometric)
integers = _of_module(RandomState.integers)
laplace = _of_module(RandomState.laplace)
logistic = _of_module(RandomState.logistic)
lognormal = _of_module(RandomState.lognormal)
logseries = _of_module(RandomState.logseries)
multinomial = _of_module(RandomState.multinomial)
multivariate_normal = _of_module(RandomState.multivariate_normal)
negative_binomial = _of_module(RandomState.negative_binomial)
noncentral_chisquare = _of_module(RandomState.noncentral_chisquare)
noncentral_f = _of_module(RandomState.noncentral_f)
normal = _of_module(RandomState.normal)
pareto = _of_module(RandomState.pareto)
permutation = _of_module(RandomState.permutation)
poisson = _of_module(RandomState.poisson)
power = _of_module(RandomState.power)
rand = _of_module(RandomState.rand)
randint = _of_module(RandomState.randint)
randn = _of_module(RandomState.randn)
random = _of_module(RandomState.random)
random_integers = _of_module(RandomState.random_integers)
random_sample = ranf = sample = _of_module(RandomState.random_sample)
rayleigh = _of_module(RandomState.rayleigh)
set_state = _of_module(RandomState.set_state)
shuffle = _of_module(RandomState.shuffle)
standard_cauchy = _of_module(RandomState.standard_cauchy)
standard_exponential = _of_module(RandomState.standard_exponential)
standard_gamma = _of_module(RandomState.standard_gamma)
standard_normal = _of_module(RandomState.standard_normal)
standard_t = _of_module(RandomState.standard_t)
triangular = _of_module(RandomState.triangular)
uniform = _of_module(RandomState.uniform)
vonmises = _of_module(RandomState.vonmises)
wald = _of_module(RandomState.wald)
weibull = _of_module(RandomState.weibull)
zipf = _of_module(RandomState.zipf)
