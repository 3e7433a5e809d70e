// A model for Pinocchio from the joints of benchmarks/loops.py.
#ifndef PINOCCHIO_MODEL_H
#define PINOCCHIO_MODEL_H

#include <pinocchio/multibody.hpp>

#include <string>

// The joint's frame in its parent's by rows and point, the axis, and what the joint carries.
struct Placed {
    double rotation[9], point[3], axis[3], mass, com[3], inertia[9];
};

inline pinocchio::JointModel joint_model(int kind, const Eigen::Vector3d &axis) {
    using namespace pinocchio;
    switch (kind) {
    case 0: return JointModelRX();
    case 1: return JointModelRY();
    case 2: return JointModelRZ();
    case 3: return JointModelRevoluteUnaligned(axis);
    case 4: return JointModelPX();
    case 5: return JointModelPY();
    case 6: return JointModelPZ();
    case 7: return JointModelPrismaticUnaligned(axis);
    default: return JointModelSpherical();
    }
}

// parent: 0 is the base, joints count from 1.
inline pinocchio::Model model_of(int n, const int *kind, const int *parent, const Placed *joints,
                                 const double *gravity) {
    using namespace pinocchio;
    using Matrix = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>;
    using Point = Eigen::Map<const Eigen::Vector3d>;
    Model model;
    model.gravity.linear() = Point(gravity);
    for (int k = 0; k < n; k++) {
        const Placed &j = joints[k];
        const SE3 place(Matrix(j.rotation), Point(j.point));
        const JointIndex index = model.addJoint(static_cast<JointIndex>(parent[k]), joint_model(kind[k], Point(j.axis)),
                                                place, std::to_string(k));
        model.appendBodyToJoint(index, Inertia(j.mass, Point(j.com), Matrix(j.inertia)), SE3::Identity());
    }
    return model;
}

#endif
