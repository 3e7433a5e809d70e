"""From a mechanism to a file: modelDescription, documentation, the Python FMU."""
