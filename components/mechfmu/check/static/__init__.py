"""Rules S1-S15: about the file of an FMU, without running it."""

from __future__ import annotations

from .binaries import binaries
from .capabilities import capability_flags
from .contents import archive_contents
from .document import identity, schema
from .experiment import default_experiment
from .names import name_grammar, unique_names
from .sources import source_files
from .structure import model_structure
from .units import units_and_types
from .variables import aliases, initial_table, model_exchange_attributes, start_values

RULES = (
    archive_contents,
    schema,
    identity,
    unique_names,
    name_grammar,
    initial_table,
    start_values,
    units_and_types,
    aliases,
    model_structure,
    default_experiment,
    model_exchange_attributes,
    source_files,
    binaries,
    capability_flags,
)
