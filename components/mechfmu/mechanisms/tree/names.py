"""A tree as the option of a mechanism, and its name."""

from __future__ import annotations

import re

from ...model.mechanism import UserError
from ...multibody.tree import BodyTree, TreeError


def tree_of(model: str, inertia: str = "refuse") -> BodyTree:
    """Return the tree that an option describes as JSON, checked; inertia: as in `BodyTree.check`."""
    try:
        tree = BodyTree.from_json(model)
        tree.check(inertia)
    except TreeError as error:
        raise UserError(str(error)) from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"option model is not the description of a tree: {error}") from None
    return tree


def identifier(tree: BodyTree) -> str:
    """Return the name of a tree as a C identifier."""
    name = re.sub(r"\W", "_", tree.name, flags=re.ASCII) or "Tree"
    return name if not name[0].isdigit() else f"_{name}"
