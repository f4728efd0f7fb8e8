"""Kernels of neural networks: one file per chapter."""
