"""Test FMUs of the checker: a heated room, with one defect each, and clean ones; see README.md."""
