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

INERTIAL = "<inertial><pose>0.1 0 0.2 0 0 0</pose><mass>2</mass></inertial>"
SDF_MODEL = f"""<sdf version="1.8">
  <world name="w">
    <model name="ground"><static>true</static><link name="plane"/></model>
    <model name="robot">
      <pose>1 0 0 0 0 0</pose>
      <link name="trunk"><pose>0 2 0 0 0 0</pose>{INERTIAL}</link>
      <frame name="socket" attached_to="trunk"><pose degrees="true">0 0 3 0 0 90</pose></frame>
      <model name="arm">
        <pose relative_to="socket"/>
        <link name="upper">{INERTIAL}</link>
        <link name="hand"><pose>0 0 1 0 0 0</pose>{INERTIAL}</link>
        <joint name="wrist" type="universal">
          <parent>upper</parent><child>hand</child>
          <axis><xyz>1 0 0</xyz><limit><lower>-1</lower><upper>1e16</upper><effort>-1</effort></limit></axis>
          <axis2><xyz expressed_in="__model__">0 1 0</xyz>
            <dynamics><damping>0.5</damping><spring_stiffness>3</spring_stiffness>
              <spring_reference>0.1</spring_reference></dynamics></axis2>
        </joint>
      </model>
      <joint name="shoulder" type="ball"><parent>socket</parent><child>arm::upper</child></joint>
    </model>
  </world>
</sdf>"""

MJCF_MODEL = """<mujoco model="chain">
  <compiler angle="radian"/>
  <worldbody>
    <geom type="box" size="1 1 1"/>
    <body name="mast" pos="0 0 1" euler="0 0 0.3">
      <geom type="capsule" size="0.05 0.2"/>
      <body name="arm" pos="0.1 0.2 0.3" euler="0.4 0.5 0.6">
        <joint name="yaw" type="hinge" axis="0 1 2" pos="0.1 0 0" ref="0.3" stiffness="5" springref="0.2"/>
        <joint name="lift" type="slide" axis="1 1 0" ref="0.2" damping="2" armature="0.1" stiffness="4"/>
        <joint name="roll" type="hinge" axis="1 0 0" pos="0 0.2 0.1" frictionloss="0.7" range="-1 2"/>
        <inertial pos="0.1 0 0.2" euler="0.1 0.2 0.3" mass="2" diaginertia="0.03 0.02 0.04"/>
        <geom type="box" size="0.1 0.2 0.3"/>
        <body name="plate"><geom type="sphere" size="0.1"/>
          <body name="ball" pos="0.3 0 0"><joint name="hang" type="ball" pos="0 0 0.2" damping="0.3" stiffness="0.7"/>
            <geom type="box" size="0.1 0.1 0.2"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="yaw" gear="10" ctrlrange="-2 2" forcerange="-1.5 1.5"/>
    <motor joint="lift" gear="-3" ctrlrange="-1 1"/>
    <motor joint="lift" gear="2" ctrlrange="-1 1"/>
    <motor joint="roll"/>
  </actuator>
</mujoco>"""

XACRO_ROBOT = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="2"/>
  <xacro:property name="length" value="0.5"/>
  <xacro:macro name="rod" params="name mass=1 *place">
    <link name="${name}"><inertial><origin xyz="${length / 2} 0 0"/><mass value="${mass}"/>
      <inertia ixx="${0.1 * float(mass)}" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="${name}_joint" type="continuous"><xacro:insert_block name="place"/><child link="${name}"/></joint>
  </xacro:macro>
  <link name="stand"/>
  <xacro:rod name="upper" mass="$(arg mass)"><parent link="stand"/></xacro:rod>
  <xacro:if value="${length > 0.1}"><xacro:rod name="lower"><parent link="upper"/></xacro:rod></xacro:if>
</robot>
"""
