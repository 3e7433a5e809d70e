"""Spherical-joint arm: three bodies on two ball joints and a hinge."""
