// Bursts of Pinocchio's articulated-body algorithm, as its makers compiled it.
#include "burst.h"

#include <pinocchio/algorithm/aba.hpp>

#include "pinocchio_model.h"

using namespace pinocchio;

namespace {

struct Mechanism {
    Model model;
    Data data;
};

} // namespace

extern "C" void *pinocchio_mechanism(int n, const int *kind, const int *parent, const double *numbers,
                                     const double *gravity) {
    const Model model = model_of(n, kind, parent, reinterpret_cast<const Placed *>(numbers), gravity);
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
