"""Rules S1-S13: about the file of an FMU, without running it."""

from __future__ import annotations

from .contents import archive_contents, source_files
from .document import identity, schema
from .names import name_grammar, unique_names
from .structure import default_experiment, model_structure
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
)
