"""The mathematics: one algorithm, one file, pure functions of NumPy arrays."""
