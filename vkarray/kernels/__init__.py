"""How operations run: variants, dispatches and the families of kernels. What an operation means is in `ops` and `nn`."""
