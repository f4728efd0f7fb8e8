"""What ``./dev demo`` runs: two real jobs through the array API, each checked against NumPy."""
