"""Deformable exoskeleton: two legs and a body in a plane."""
