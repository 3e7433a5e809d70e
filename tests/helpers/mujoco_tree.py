"""MuJoCo's model of an MJCF file in the coordinates of our tree, and its accelerations without contacts and solver."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from pathlib import Path

import numpy as np

from helpers import needs
from helpers.tree_cases import matrix_of
from mechfmu.mechanisms.tree.readers.common import legal_names
from mechfmu.multibody.following import follow
from mechfmu.multibody.tree import BodyTree

mujoco = needs.module("mujoco")


class MujocoTree:
    """The model of a file, its joints matched with those of a tree by name or, without names, by order."""

    def __init__(self, file: Path, tree: BodyTree):
        said = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(lambda _: None)  # otherwise warnings go to a file in the working directory
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated attributes of old models
            self.model = m = mujoco.MjModel.from_xml_path(str(file))
        mujoco.set_mju_user_warning(said)
        self._remove_what_a_tree_does_not_have()
        self.data = mujoco.MjData(m)
        self.tree = tree
        moving = [joint for joint in tree.joints if joint.rates]
        own = [m.joint(i).name for i in range(m.njnt)]
        legal = legal_names(name for name in own if name)
        order = {joint.name: k for k, joint in enumerate(moving)}
        # bodies of a compiled model and of a tree are both depth first, and so are their joints
        self.joints = [(i, order.get(legal.get(name, ""), i)) for i, name in enumerate(own)]
        assert sorted(k for _, k in self.joints) == list(range(len(moving))), "the joints do not match"

    def _remove_what_a_tree_does_not_have(self) -> None:
        m, bits = self.model, mujoco.mjtDisableBit
        m.opt.disableflags |= int(bits.mjDSBL_CONSTRAINT) | int(bits.mjDSBL_ACTUATION)
        m.opt.disableflags &= ~int(bits.mjDSBL_GRAVITY)
        m.opt.gravity[:] = (0.0, 0.0, -9.81)
        m.opt.density = m.opt.viscosity = 0.0
        for array in ("tendon_stiffness", "tendon_damping", "tendon_armature", "body_gravcomp"):
            if hasattr(m, array):
                getattr(m, array)[:] = 0.0
        for i in np.flatnonzero(m.jnt_type == 0):
            at = m.jnt_dofadr[i]
            m.jnt_stiffness[i] = 0.0
            m.dof_armature[at : at + 6] = m.dof_damping[at : at + 6] = 0.0

    def accelerations(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q, v, tau and the accelerations at a random state, in the order and coordinates of the tree.

        A free joint of the tree counts from the pose of the file, and its speeds are along the axes of that pose. q, v
        and tau are those of the joints that follow no other. With v = G v_r, the mass matrix M and the forces f,
        M vdot = f, the joints that follow others let the accelerations be G (G^T M G)^-1 G^T f.
        """
        random, m, d = np.random.default_rng(seed), self.model, self.data
        v, tau = random.uniform(-1.0, 1.0, (2, m.nv))
        G, followers = self._coupling()
        v, tau = G @ (G.T @ v), np.where(G.diagonal() == 0.0, 0.0, tau)
        d.qvel[:], d.qfrc_applied[:] = v, tau
        q_of: dict[int, np.ndarray] = {}
        turn_of: dict[int, np.ndarray] = {}
        for i, _ in self.joints:
            kind, at, body = m.jnt_type[i], m.jnt_qposadr[i], m.jnt_bodyid[i]
            e = random.normal(size=4)
            e /= np.linalg.norm(e)
            if kind == 0:
                turn = turn_of[i] = matrix_of(m.body_quat[body])
                position, whole = random.uniform(-1.0, 1.0, 3), np.zeros(4)
                mujoco.mju_mulQuat(whole, m.body_quat[body], e)
                d.qpos[at : at + 7] = [*(m.body_pos[body] + turn @ position), *whole]
                q_of[i] = np.array([*position, *e])
            elif kind == 1:
                d.qpos[at : at + 4] = q_of[i] = e
            else:
                d.qpos[at] = random.uniform(-1.0, 1.0)
                q_of[i] = np.array([d.qpos[at]])
        for i, (leader, multiplier, offset) in followers.items():
            d.qpos[m.jnt_qposadr[i]] = multiplier * d.qpos[m.jnt_qposadr[leader]] + offset
        mujoco.mj_forward(m, d)
        mass = np.zeros((m.nv, m.nv))
        for row, unit in zip(mass, np.eye(m.nv), strict=True):
            mujoco.mj_mulM(m, d, row, unit)
        independent = np.flatnonzero(G.diagonal())
        G = G[:, independent]
        qacc = G @ np.linalg.solve(G.T @ mass @ G, G.T @ mass @ d.qacc) if followers else np.array(d.qacc)

        def in_order(values: np.ndarray, leave_out: Collection[int] = ()) -> np.ndarray:
            parts = {}
            for i, k in self.joints:
                if i in leave_out:
                    continue
                own = values[m.jnt_dofadr[i] :][: (6, 3, 1, 1)[m.jnt_type[i]]]
                parts[k] = np.concatenate([turn_of[i].T @ own[:3], own[3:]]) if i in turn_of else own
            return np.concatenate([parts[k] for k in sorted(parts)])

        own = [i for i, _ in sorted(self.joints, key=lambda pair: pair[1]) if i not in followers]
        q = np.concatenate([q_of[i] for i in own])
        return q, in_order(v, followers), in_order(tau, followers), in_order(qacc)

    def _coupling(self) -> tuple[np.ndarray, dict[int, tuple[int, float, float]]]:
        """G with a column of zeros for each joint that follows another; and these joints, by MuJoCo's number."""
        own = {joint: k for k, joint in enumerate(j for j, joint in enumerate(self.tree.joints) if joint.rates)}
        number = {k: i for i, k in self.joints}
        followers = {
            number[own[j]]: (number[own[leader]], multiplier, offset)
            for j, (leader, multiplier, offset) in follow(self.tree.joints).items()
        }
        G = np.eye(self.model.nv)
        for i, (leader, multiplier, _) in followers.items():
            row, column = self.model.jnt_dofadr[i], self.model.jnt_dofadr[leader]
            G[row, row], G[row, column] = 0.0, multiplier
        return G, followers
