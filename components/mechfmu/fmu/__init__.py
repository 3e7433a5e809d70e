"""From a mechanism to an FMU file."""
