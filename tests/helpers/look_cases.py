"""Mechanisms for the tests of drawings: a planar chain, a robot with shapes."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

from helpers import needs
from mechfmu import LinkChain
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.simulation.result import Result

ROBOT = """<robot name="crane">
 <link name="ground"><visual><origin xyz="0 0 0.05"/><geometry><box size="0.6 0.6 0.1"/></geometry></visual></link>
 <link name="mast">
  <inertial>
   <origin xyz="0 0 0.4"/><mass value="10"/><inertia ixx="0.6" iyy="0.6" izz="0.05" ixy="0" ixz="0" iyz="0"/>
  </inertial>
  <visual><origin xyz="0 0 0.4"/><geometry><cylinder radius="0.08" length="0.8"/></geometry></visual>
 </link>
 <link name="boom">
  <inertial>
   <origin xyz="0.35 0 0"/><mass value="4"/><inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/>
  </inertial>
  <visual><origin xyz="0.35 0 0"/><geometry><mesh filename="package://crane/boom.dae"/></geometry></visual>
  <collision>
   <origin xyz="0.35 0 0" rpy="0 1.5707963267948966 0"/><geometry><cylinder radius="0.05" length="0.7"/></geometry>
  </collision>
 </link>
 <link name="load">
  <inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><sphere radius="0.1"/></geometry></visual>
 </link>
 <joint name="slew" type="continuous">
  <parent link="ground"/><child link="mast"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
 </joint>
 <joint name="luff" type="continuous">
  <parent link="mast"/><child link="boom"/><origin xyz="0 0 0.8"/><axis xyz="0 1 0"/><dynamics damping="0.5"/>
 </joint>
 <joint name="hook" type="fixed"><parent link="boom"/><child link="load"/><origin xyz="0.7 0 0"/></joint>
</robot>
"""


@lru_cache
def chain() -> Result:
    driven = {"tip.force_x": lambda t: 20.0 * math.sin(3 * t), "joint[1].torque": lambda t: 6.0 * math.cos(2 * t)}
    return LinkChain(links=4).simulate(stop=2.0, step=0.01, inputs=driven)


def crane(folder: Path) -> Tree:
    file = folder / "crane.urdf"
    file.write_text(ROBOT)
    return Tree.from_file(file, meshes=False)  # the mesh of the boom does not exist


def robot_file(name: str) -> Path:
    """Return a file of the installed package of robot descriptions."""
    (found,) = needs.robot_descriptions().rglob(name)
    return found
