"""`python -m mechfmu`"""

from .cli import entry

entry()
