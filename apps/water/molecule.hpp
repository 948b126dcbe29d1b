// SPDX-License-Identifier: BSD-3-Clause
// A molecule of water, and what it does to another: three atoms held by springs, the simple point charge model
// (Berendsen and others, 1981) between molecules. Lengths in angstroms, times in femtoseconds, masses in atomic units,
// energies in kJ/mol.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace water {

inline constexpr std::size_t dimensions = 3;
inline constexpr std::size_t atoms = 3;  ///< oxygen first
inline constexpr std::size_t oxygen = 0;
inline constexpr std::size_t orders = 6;  ///< of Gear's method: the position and five derivatives

using vector = std::array<double, dimensions>;
using per_atom = std::array<vector, atoms>;

/// 672 bytes, as in Millipage's evaluation.
struct molecule {
  std::array<per_atom, orders> motion{};  ///< k-th derivative of the position, times time_step^k / k!
  per_atom force{};
  per_atom position_at_first{};
  per_atom velocity_at_first{};  ///< times time_step
  vector dipole{};

  [[nodiscard]] const per_atom& position() const { return motion[0]; }
};
static_assert(sizeof(molecule) == 672);

inline constexpr std::array<double, atoms> mass{15.9994, 1.008, 1.008};
inline constexpr std::array<double, atoms> charge{-0.82, 0.41, 0.41};
inline constexpr double per_volume = 0.0334;  ///< molecules, at 300 K
inline constexpr double time_step = 0.2;
inline constexpr double acceleration = 1e-4;                       ///< of a mass of 1 by a force of 1
inline constexpr double bond = 1.0, bond_spring = 4637;            ///< between oxygen and hydrogen
inline constexpr double opening = 1.63298, opening_spring = 1150;  ///< between the hydrogens
inline constexpr double coulomb = 1389.35;
inline constexpr double diameter = 3.166, depth = 0.650;  ///< of oxygen, by Lennard and Jones

[[nodiscard]] inline vector minus(const vector& a, const vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
[[nodiscard]] inline double square(const vector& v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }
inline void add(vector& to, const vector& v, double times = 1) {
  for (std::size_t k = 0; k < dimensions; ++k) to[k] += times * v[k];
}

/// Adds what a spring does to the two atoms; its energy.
inline double pull(const per_atom& at, per_atom& force, std::size_t a, std::size_t b, double length, double spring) {
  const vector apart = minus(at[a], at[b]);
  const double distance = std::sqrt(square(apart));
  const double longer = distance - length;
  add(force[a], apart, -spring * longer / distance);
  add(force[b], apart, spring * longer / distance);
  return 0.5 * spring * longer * longer;
}

/// What the springs within a molecule do; their energy.
inline double forces_within(const per_atom& at, per_atom& force) {
  return pull(at, force, oxygen, 1, bond, bond_spring) + pull(at, force, oxygen, 2, bond, bond_spring) +
         pull(at, force, 1, 2, opening, opening_spring);
}

/// A cube that repeats in all directions, in which molecules see each other up to half its edge: less and less in the
/// last tenth of that.
struct cube {
  double edge = 0;

  [[nodiscard]] double reach() const { return edge / 2; }
};

/// Adds what two molecules do to each other; their energy.
inline double forces_between(const per_atom& a, const per_atom& b, const cube& box, per_atom& on_a, per_atom& on_b) {
  vector apart = minus(a[oxygen], b[oxygen]);
  vector image;  // by which b is moved, to be the nearest of all its images
  for (std::size_t k = 0; k < dimensions; ++k) {
    image[k] = box.edge * std::round(apart[k] / box.edge);
    apart[k] -= image[k];
  }
  const double distance = square(apart);  // all squared
  const double far = box.reach() * box.reach(), near = 0.81 * far;
  if (distance >= far) return 0;
  double seen = 1, slope = 0;
  if (distance > near) {
    const double x = (distance - near) / (far - near);
    seen = 1 - x * x * x * (10 - 15 * x + 6 * x * x);
    slope = -30 * x * x * (1 - x) * (1 - x) / (far - near);
  }

  const double sixth = std::pow(diameter * diameter / distance, 3);
  double energy = 4 * depth * sixth * (sixth - 1);
  const double push = 24 * depth * sixth * (2 * sixth - 1) / distance;
  add(on_a[oxygen], apart, seen * push);
  add(on_b[oxygen], apart, -seen * push);
  for (std::size_t i = 0; i < atoms; ++i)
    for (std::size_t j = 0; j < atoms; ++j) {
      vector way = minus(a[i], b[j]);
      add(way, image, -1);
      const double squared = square(way);
      const double of_pair = coulomb * charge[i] * charge[j] / std::sqrt(squared);
      energy += of_pair;
      add(on_a[i], way, seen * of_pair / squared);
      add(on_b[j], way, -seen * of_pair / squared);
    }
  add(on_a[oxygen], apart, -2 * slope * energy);
  add(on_b[oxygen], apart, 2 * slope * energy);
  return seen * energy;
}

}  // namespace water
