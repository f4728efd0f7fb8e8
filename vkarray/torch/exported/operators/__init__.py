"""The rows of the table of operators, by family."""

from . import counting as counting
from . import creation as creation
from . import elementwise as elementwise
from . import indexing as indexing
from . import layers as layers
from . import linear_algebra as linear_algebra
from . import products as products
from . import random as random
from . import reductions as reductions
from . import shapes as shapes
from . import special as special
from . import symbolic as symbolic
