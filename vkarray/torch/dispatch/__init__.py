"""How operators of PyTorch reach kernels: the table of operators, plans, results, fallback."""
