"""Algorithms of controllers: jets, programmed constraints, guidance."""
