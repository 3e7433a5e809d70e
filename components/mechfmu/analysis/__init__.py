"""Linear models, regulators, learning."""
