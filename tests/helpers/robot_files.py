"""Robot files for the readers."""

from __future__ import annotations

from helpers.paths import EXAMPLES

EXAMPLE = EXAMPLES / "spherical_arm.toml"


ROBOT = """<?xml version="1.0"?>
<!-- every joint type -->
<robot name="toy" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <material name="grey"><color rgba="1 1 1 oops"/></material>
  <link name="ground"/>
  <joint name="shoulder" type="revolute">
    <parent link="ground"/>
    <child link="upper"/>
    <origin xyz="0.1 0 0.5" rpy="0.3 -0.2 0.1"/>
    <axis xyz="0 2 2"/>
    <limit lower="-1.5" upper="2" effort="30" velocity="5"/>
    <dynamics damping="0.4" friction="0.25"/>
    <safety_controller k_velocity="nonsense"/>
  </joint>
  <link name="upper">
    <visual><geometry><mesh filename="package://none.stl"/></geometry></visual>
    <inertial>
      <origin xyz="0 0.02 0.2" rpy="0.5 0.6 0.7"/>
      <mass value="2.5"/>
      <inertia ixx="0.04" ixy="0.001" ixz="-0.002" iyy="0.05" iyz="0.003" izz="0.02"/>
    </inertial>
    <collision><geometry><box size="x y z"/></geometry></collision>
  </link>
  <link name="tool"><inertial>
    <mass value="0.5"/>
    <inertia ixx="0.004" ixy="0" ixz="0" iyy="0.005" iyz="0" izz="0.002"/>
  </inertial></link>
  <link name="flange"/>
  <joint name="mount" type="fixed">
    <origin xyz="0 0 0.4"/>
    <parent link="upper"/><child link="flange"/>
    <axis xyz="0 0 0"/>
  </joint>
  <joint name="screw" type="continuous">
    <parent link="flange"/><child link="tool"/>
    <limit effort="0" velocity="1" lower="7" upper="-7"/>
  </joint>
  <link name="slider"><inertial>
    <origin xyz="0.05 0.02 0.03"/><mass value="0.75"/>
    <inertia ixx="0.006" ixy="0" ixz="0" iyy="0.007" iyz="0" izz="0.008"/>
  </inertial></link>
  <joint name="rail" type="prismatic">
    <parent link="ground"/><child link="slider"/>
    <axis xyz="0 0 -3"/><limit upper="0.3" effort="5" velocity="1"/>
  </joint>
  <transmission name="t"><joint name="shoulder"/><joint name="shoulder"/></transmission>
  <gazebo reference="upper"><joint type="magic"/></gazebo>
</robot>
"""
