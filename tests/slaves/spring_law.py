"""What the slave beside it imports."""


def force(x, stiffness):
    return -stiffness * x - 0.3 * x**3
