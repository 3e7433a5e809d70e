// Pinocchio's articulated-body algorithm recorded with CasADi's scalar type.
#include <pinocchio/autodiff/casadi.hpp>

#include <pinocchio/algorithm/aba.hpp>

#include "pinocchio_model.h"

using namespace pinocchio;
using Symbol = ::casadi::SX;

namespace {

// Constants, or the next elements of p where the mask says so.
class Numbers {
  public:
    Numbers(const Symbol &p, const unsigned char *variable) : p(p), variable(variable) {}

    template <int rows, int columns> Eigen::Matrix<Symbol, rows, columns> read(const double *values) {
        Eigen::Matrix<Symbol, rows, columns> made;
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++, values++) made(i, j) = *variable++ ? Symbol(p(used++)) : Symbol(*values);
        return made;
    }

  private:
    const Symbol &p;
    const unsigned char *variable;
    ::casadi_int used = 0;
};

Eigen::Matrix<Symbol, Eigen::Dynamic, 1> elements(const Symbol &x) {
    Eigen::Matrix<Symbol, Eigen::Dynamic, 1> made(x.numel());
    for (casadi_int i = 0; i < x.numel(); i++) made(i) = x(i);
    return made;
}

} // namespace

// Save the graph (q, v, tau, p) -> vdot. The mask has an element for each number of the joints and for each component
// of gravity: 1 where it is an element of p, in this order, and not a constant.
extern "C" void pinocchio_graph(const char *file, int local, int n, const int *kind, const int *parent,
                                const double *numbers, const double *gravity, const unsigned char *variable) {
    const Placed *joints = reinterpret_cast<const Placed *>(numbers);
    ModelTpl<Symbol> model = model_of(n, kind, parent, joints, gravity).cast<Symbol>();
    ::casadi_int variables = 0;
    for (size_t i = 0; i < static_cast<size_t>(n) * sizeof(Placed) / sizeof(double) + 3; i++) variables += variable[i];
    const Symbol p = Symbol::sym("p", variables);
    Numbers next(p, variable);
    for (int k = 0; k < n; k++) {
        const Placed &j = joints[k];
        const size_t index = static_cast<size_t>(k) + 1;
        const auto rotation = next.read<3, 3>(j.rotation);
        const auto point = next.read<3, 1>(j.point);
        next.read<3, 1>(j.axis); // part of the joint's kind
        const auto mass = next.read<1, 1>(&j.mass);
        const auto com = next.read<3, 1>(j.com);
        const auto J = next.read<3, 3>(j.inertia);
        const Symmetric3Tpl<Symbol> inertia(J(0, 0), J(0, 1), J(1, 1), J(0, 2), J(1, 2), J(2, 2));
        model.jointPlacements[index] = SE3Tpl<Symbol>(rotation, point);
        model.inertias[index] = InertiaTpl<Symbol>(mass(0), com, inertia);
    }
    model.gravity.linear() = next.read<3, 1>(gravity);
    DataTpl<Symbol> data(model);
    const Symbol q = Symbol::sym("q", model.nq), v = Symbol::sym("v", model.nv), tau = Symbol::sym("tau", model.nv);
    const auto vdot =
        aba(model, data, elements(q), elements(v), elements(tau), local ? Convention::LOCAL : Convention::WORLD);
    Symbol result(model.nv, 1);
    for (casadi_int i = 0; i < model.nv; i++) result(i) = vdot(i);
    ::casadi::Function("aba", {q, v, tau, p}, {result}, {"q", "v", "tau", "p"}, {"vdot"}).save(file);
}
