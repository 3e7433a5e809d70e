// Bursts of Pinocchio's articulated-body algorithm, as its makers compiled it.
#include "burst.h"

#include <pinocchio/algorithm/aba.hpp>

#include <string>

using namespace pinocchio;

namespace {

struct Mechanism {
    Model model;
    Data data;
};

// The joint's frame in its parent's by rows and point, the axis, and what the joint carries, as in benchmarks/loops.py.
struct Placed {
    double rotation[9], point[3], axis[3], mass, com[3], inertia[9];
};

JointModel joint_model(int kind, const Eigen::Vector3d &axis) {
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

using Matrix = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>;
using Point = Eigen::Map<const Eigen::Vector3d>;

} // namespace

// parent: 0 is the base, joints count from 1.
extern "C" void *pinocchio_mechanism(int n, const int *kind, const int *parent, const double *numbers,
                                     const double *gravity) {
    const Placed *joints = reinterpret_cast<const Placed *>(numbers);
    Model model;
    model.gravity.linear() = Point(gravity);
    for (int k = 0; k < n; k++) {
        const Placed &j = joints[k];
        const SE3 place(Matrix(j.rotation), Point(j.point));
        const JointIndex index = model.addJoint(static_cast<JointIndex>(parent[k]), joint_model(kind[k], Point(j.axis)),
                                                place, std::to_string(k));
        model.appendBodyToJoint(index, Inertia(j.mass, Point(j.com), Matrix(j.inertia)), SE3::Identity());
    }
    return new Mechanism{model, Data(model)};
}

extern "C" void pinocchio_free(void *mechanism) { delete static_cast<Mechanism *>(mechanism); }

// `count` evaluations at the points (q[i], v[i], tau[i]), one after the other and again from the first; the last
// results stay in vdot[i].
extern "C" double pinocchio_burst(void *mechanism, int local, size_t points, const double *q, const double *v,
                                  const double *tau, double *vdot, size_t count) {
    using Vector = Eigen::Ref<const Eigen::VectorXd>; // the type for which the library holds compiled code
    using In = Eigen::Map<const Eigen::VectorXd>;
    using Out = Eigen::Map<Eigen::VectorXd>;
    Mechanism &m = *static_cast<Mechanism *>(mechanism);
    const Eigen::Index nq = m.model.nq, nv = m.model.nv;
    const Convention convention = local ? Convention::LOCAL : Convention::WORLD;
    const double began = cpu_seconds();
    for (size_t i = 0, k = 0; i < count; i++, k = k + 1 == points ? 0 : k + 1) {
        const Eigen::Index at = static_cast<Eigen::Index>(k);
        Out(vdot + at * nv, nv) = aba(m.model, m.data, Vector(In(q + at * nq, nq)), Vector(In(v + at * nv, nv)),
                                      Vector(In(tau + at * nv, nv)), convention);
    }
    return (cpu_seconds() - began) / static_cast<double>(count);
}
