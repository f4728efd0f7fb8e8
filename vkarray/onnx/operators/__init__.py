"""The rows of the table of operators, by family."""

from . import (
    attention as attention,
)
from . import (
    contributed as contributed,
)
from . import (
    control as control,
)
from . import (
    convolution as convolution,
)
from . import (
    elementwise as elementwise,
)
from . import (
    indexing as indexing,
)
from . import (
    normalization as normalization,
)
from . import (
    pooling as pooling,
)
from . import (
    products as products,
)
from . import (
    quantization as quantization,
)
from . import (
    random as random,
)
from . import (
    recurrent as recurrent,
)
from . import (
    reductions as reductions,
)
from . import (
    regions as regions,
)
from . import (
    resize as resize,
)
from . import (
    sequences as sequences,
)
from . import (
    shapes as shapes,
)
from . import (
    signals as signals,
)
