// Bursts of Pinocchio's articulated-body algorithm for the planar chain, as its makers compiled it.
#include "burst.h"

#include <pinocchio/algorithm/aba.hpp>

#include <string>

using namespace pinocchio;

namespace {

struct Chain {
    Model model;
    Data data;
};

Model chain_model(int n, const double *l, const double *lc, const double *m, const double *J, double gravity) {
    Model model;
    model.gravity.linear() = Eigen::Vector3d(0, -gravity, 0);
    JointIndex parent = 0;
    for (int k = 0; k < n; k++) {
        const SE3 place(Eigen::Matrix3d::Identity(), Eigen::Vector3d(k ? l[k - 1] : 0, 0, 0));
        parent = model.addJoint(parent, JointModelRZ(), place, "joint" + std::to_string(k));
        model.appendBodyToJoint(parent, Inertia(m[k], Eigen::Vector3d(lc[k], 0, 0), J[k] * Eigen::Matrix3d::Identity()), SE3::Identity());
    }
    return model;
}

}  // namespace

extern "C" void *pinocchio_chain(int n, const double *l, const double *lc, const double *m, const double *J, double gravity) {
    const Model model = chain_model(n, l, lc, m, J, gravity);
    return new Chain{model, Data(model)};
}

extern "C" void pinocchio_free(void *chain) { delete static_cast<Chain *>(chain); }

// `count` evaluations at the points (q[i], dq[i], tau[i]), one after the other and again from the first; the last results stay in qdd[i].
extern "C" double pinocchio_burst(void *chain, size_t points, const double *q, const double *dq, const double *tau, double *qdd, size_t count) {
    using Vector = Eigen::Ref<const Eigen::VectorXd>;  // the type for which the library holds compiled code
    using In = Eigen::Map<const Eigen::VectorXd>;
    using Out = Eigen::Map<Eigen::VectorXd>;
    Chain &c = *static_cast<Chain *>(chain);
    const Eigen::Index n = c.model.nv;
    const double began = cpu_seconds();
    for (size_t i = 0, k = 0; i < count; i++, k = k + 1 == points ? 0 : k + 1) {
        const Eigen::Index at = static_cast<Eigen::Index>(k) * n;
        Out(qdd + at, n) = aba(c.model, c.data, Vector(In(q + at, n)), Vector(In(dq + at, n)), Vector(In(tau + at, n)), Convention::WORLD);
    }
    return (cpu_seconds() - began) / static_cast<double>(count);
}
