"""A tree as the option of a mechanism, and its name."""

from __future__ import annotations

import re

from ...model.mechanism import UserError
from ...multibody.tree import BodyTree, TreeError


def tree_of(model: str) -> BodyTree:
    """Return the tree that an option describes as JSON, checked."""
    try:
        tree = BodyTree.from_json(model)
        tree.check()
        check_simulated(tree)
    except TreeError as error:
        raise UserError(str(error)) from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"option model is not the description of a tree: {error}") from None
    return tree


def check_simulated(tree: BodyTree) -> None:
    """UserError for a description that the equations do not cover."""
    for joint in tree.joints:
        if joint.mimic:
            raise UserError(f"joint {joint.name} follows joint {joint.mimic}: coupled joints are not simulated")
    if tree.contacts:
        raise UserError(f"contact {tree.contacts[0].name}: contacts are not simulated")


def identifier(tree: BodyTree) -> str:
    """Return the name of a tree as a C identifier."""
    name = re.sub(r"\W", "_", tree.name, flags=re.ASCII) or "Tree"
    return name if not name[0].isdigit() else f"_{name}"
