"""The compliance checker: every rule of FMI 2.0 that can be checked, on the file and on the running binary of any FMU.

findings    what a rule is, and what it finds
archive     the zip file, unpacked safely into a private folder
description modelDescription.xml with line numbers
static      rules S1-S13, about the file                      dynamic     rules D1-D12, about the binary
isolation   a process for every dynamic rule                  report      terminal, JSON, JUnit, HTML

This package uses nothing of mechanisms, engines and packaging, and `findings` and `dynamic` only the standard library: they are loaded
into the process that runs the FMU, where an FMU that brings Python along must not meet our modules.
"""
