"""A plugin of pytest under which a CPU driver passes for a GPU: its kernels, uniform buffers and silent batches.

`pytest -p as_gpu` in the folder of the tests. It shows faults of what only GPUs run, not how they compute. `VKARRAY_PROFILE=gpu`
is the same; the plugin adds it to what profiles are named already.
"""

from __future__ import annotations

import os

os.environ["VKARRAY_PROFILE"] = ",".join(filter(None, (os.environ.get("VKARRAY_PROFILE"), "gpu")))
