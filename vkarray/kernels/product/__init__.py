"""Sums of products: one family of kernels, one strategy a file."""
