"""Test FMUs of the checker: two tanks, with one defect each, and clean ones; see README.md."""
