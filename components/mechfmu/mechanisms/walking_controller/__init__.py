"""Walking controller of the 6-link exoskeleton."""
