"""Fourier transforms: how lengths are split, how passes run, and the functions. `vkarray.fft` is the index."""
