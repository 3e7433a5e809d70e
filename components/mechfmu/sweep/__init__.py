"""Many runs of one FMU."""
