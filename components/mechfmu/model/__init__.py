"""What a mechanism is: the contract, the table of its variables, units, drawing, errors."""

from .errors import ModelError as ModelError
from .errors import UserError as UserError
from .errors import did_you_mean as did_you_mean
from .mechanism import Array as Array
from .mechanism import Caution as Caution
from .mechanism import Mechanism as Mechanism
from .mechanism import Note as Note
from .mechanism import Option as Option
from .variables import Role as Role
from .variables import Row as Row
