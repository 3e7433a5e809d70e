"""Compliance checker: rules of FMI 2.0, checked on the file and on the running binary of any FMU.

findings     rules and findings
archive      the zip file, unpacked safely into a private folder
description  modelDescription.xml with line numbers
static       rules S1-S15, about the file
model_data   the model description as plain data for the dynamic rules
dynamic      rules D1-D16 and R1-R4, about the binary
isolation    one process per dynamic rule
checker      all rules, one report
report       terminal, HTML, JSON, JUnit, SARIF

This package is independent of the rest of mechfmu: only report/as_text.py imports something from it, the output of text
in console.py (tests/project/test_layers.py).
`findings` and `dynamic` use only the standard library, because they are loaded into the process that runs the
FMU, where an FMU with Python code must not find our modules.
"""
