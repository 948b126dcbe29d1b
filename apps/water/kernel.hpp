// SPDX-License-Identifier: BSD-3-Clause
// Molecules of water that move for some femtoseconds: the structure of SPLASH-2's Water-nsquared (Woo, Ohara, Torrie,
// Singh and Gupta, ISCA 1995), from its description. Each worker owns some molecules. It computes the forces between
// them and the next half of all others, adds them up for itself, and then to the molecules, each under its own lock.
// The code that all programs share, for one worker.
//
// Forces are added in the order in which workers come: results are those of a serial run but for rounding.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

#include "common/partition.hpp"
#include "common/random.hpp"
#include "common/worker.hpp"
#include "water/molecule.hpp"

namespace water {

/// Molecules lie where their allocator has put them.
struct liquid {
  std::span<molecule* const> molecules;
  cube box;
  std::span<molecule* const> in_turn{};  ///< if any, the same by other addresses: a worker copies the positions of all
                                         ///< from there, and computes with that
};

[[nodiscard]] inline std::size_t lattice_edge(std::size_t molecules) {
  std::size_t edge = 1;
  while (edge * edge * edge < molecules) ++edge;
  return edge;
}

/// The cube that has so many molecules in liquid water.
[[nodiscard]] inline cube box_of(std::size_t molecules) {
  const auto edge = static_cast<double>(lattice_edge(molecules));
  return {edge * std::cbrt(1 / per_volume)};
}

/// Number `i` of them as it is at first: on a lattice, turned and moving at random; two that follow each other move in
/// opposite directions.
inline void place(molecule& m, std::size_t i, std::size_t molecules) {
  const std::size_t edge = lattice_edge(molecules);
  const double step = std::cbrt(1 / per_volume);
  const vector centre{static_cast<double>(i % edge) * step, static_cast<double>(i / edge % edge) * step,
                      static_cast<double>(i / (edge * edge)) * step};
  apps::random_numbers random(314159265);
  random.skip(5 * (i - i % 2));
  const auto signed_number = [&] { return 2 * random.next() - 1; };
  vector velocity{};
  const bool alone = i + 1 == molecules && i % 2 == 0;
  for (double& v : velocity) v = (alone ? 0 : i % 2 == 0 ? 1 : -1) * 0.005 * time_step * signed_number();
  const double turn = std::numbers::pi * random.next() + static_cast<double>(i % 2),
               tilt = std::numbers::pi * random.next();
  const double half = std::asin(opening / (2 * bond));
  const vector along{std::cos(turn) * std::sin(tilt), std::sin(turn) * std::sin(tilt), std::cos(tilt)};
  const vector across{-std::sin(turn), std::cos(turn), 0};
  m = {};
  per_atom& at = m.motion[0];
  at.fill(centre);
  for (std::size_t h = 1; h < atoms; ++h) {
    add(at[h], along, bond * std::cos(half));
    add(at[h], across, (h == 1 ? 1 : -1) * bond * std::sin(half));
  }
  m.motion[1].fill(velocity);
  m.position_at_first = at;
  m.velocity_at_first = m.motion[1];
}

/// The first half of a step: each derivative by those above it (Pascal's triangle).
inline void predict(molecule& m) {
  for (std::size_t from = 0; from + 1 < orders; ++from)
    for (std::size_t k = orders - 1; k > from; --k)
      for (std::size_t atom = 0; atom < atoms; ++atom) add(m.motion[k - 1][atom], m.motion[k][atom]);
}

/// The second half: what the forces were differs from what was foreseen (Gear 1971). `settles`: nothing was foreseen
/// yet.
inline void correct(molecule& m, bool settles) {
  constexpr std::array<double, orders> share{3.0 / 20, 251.0 / 360, 1, 11.0 / 18, 1.0 / 6, 1.0 / 60};
  for (std::size_t atom = 0; atom < atoms; ++atom) {
    vector wrong{};
    add(wrong, m.force[atom], 0.5 * time_step * time_step * acceleration / mass[atom]);
    if (settles) {
      m.motion[2][atom] = wrong;
      continue;
    }
    wrong = minus(wrong, m.motion[2][atom]);
    for (std::size_t k = 0; k < orders; ++k) add(m.motion[k][atom], wrong, share[k]);
  }
  m.dipole = {};
  for (std::size_t atom = 0; atom < atoms; ++atom) add(m.dipole, m.motion[0][atom], charge[atom]);
}

struct sums {
  double potential = 0;
  double kinetic = 0;
  vector momentum{};
  [[nodiscard]] double total() const { return potential + kinetic; }
};

/// Adds what a molecule has to kinetic energy and momentum.
inline void add_motion(sums& to, const molecule& m) {
  for (std::size_t atom = 0; atom < atoms; ++atom) {
    to.kinetic += 0.5 * mass[atom] / acceleration * square(m.motion[1][atom]) / (time_step * time_step);
    add(to.momentum, m.motion[1][atom], mass[atom] / time_step);
  }
}

struct outcome {
  sums last;
  double energy_change = 0;        ///< largest change of the total energy, relative to the kinetic energy at the end
  double square_displacement = 0;  ///< of oxygen, mean over molecules
  double autocorrelation = 0;      ///< of the velocities of oxygen now and at first, relative to that at first
};

/// What one worker is to a liquid.
template <apps::worker Worker, class Locks>
class mover {
 public:
  /// `locks`: one a molecule; locks.of(i) holds one while it lives.
  mover(Worker& me, const liquid& all, Locks& locks)
      : me_(me),
        all_(all),
        locks_(locks),
        count_(all.molecules.size()),
        mine_{count_ * me.number() / me.count(), count_ * (me.number() + 1) / me.count()},
        forces_(count_),
        touched_(count_),
        copies_(all.in_turn.size()) {}

  void place_own() const {
    for (std::size_t i = mine_.begin; i < mine_.end; ++i) place(*all_.molecules[i], i, count_);
  }

  /// One step; with `settles` only the forces of the beginning.
  sums step(bool settles) {
    sums found;
    for (std::size_t i = mine_.begin; i < mine_.end; ++i) {
      molecule& m = *all_.molecules[i];
      if (!settles) predict(m);
      m.force = {};
      found.potential += forces_within(m.position(), m.force);
    }
    me_.wait();  // all are where they are foreseen
    found.potential += add_forces();
    me_.wait();  // all forces are there
    for (std::size_t i = mine_.begin; i < mine_.end; ++i) {
      correct(*all_.molecules[i], settles);
      add_motion(found, *all_.molecules[i]);
    }
    const auto [potential, kinetic, x, y, z] =
        me_.sum(std::array{found.potential, found.kinetic, found.momentum[0], found.momentum[1], found.momentum[2]});
    return {potential, kinetic, {x, y, z}};
  }

  void look_back(outcome& found) {
    double displacement = 0, now = 0, at_first = 0;
    for (std::size_t i = mine_.begin; i < mine_.end; ++i) {
      const molecule& m = *all_.molecules[i];
      displacement += square(minus(m.position()[oxygen], m.position_at_first[oxygen]));
      for (std::size_t k = 0; k < dimensions; ++k) now += m.motion[1][oxygen][k] * m.velocity_at_first[oxygen][k];
      at_first += square(m.velocity_at_first[oxygen]);
    }
    const auto [displacements, nows, firsts] = me_.sum(std::array{displacement, now, at_first});
    found.square_displacement = displacements / static_cast<double>(count_);
    found.autocorrelation = firsts > 0 ? nows / firsts : 0;
  }

 private:
  [[nodiscard]] const per_atom& position(std::size_t i) const {
    return copies_.empty() ? all_.molecules[i]->position() : copies_[i];
  }

  /// Between molecules: each of the worker's own, and the half of the others that follow it.
  double add_forces() {
    double energy = 0;
    for (std::size_t i = 0; i < copies_.size(); ++i) copies_[i] = all_.in_turn[i]->position();
    for (std::size_t i = mine_.begin; i < mine_.end; ++i)
      for (std::size_t k = 1; k <= count_ / 2; ++k) {
        if (2 * k == count_ && i >= count_ / 2) continue;  // the pair is the other one's
        const std::size_t j = (i + k) % count_;
        const double of_pair = forces_between(position(i), position(j), all_.box, forces_[i], forces_[j]);
        if (of_pair == 0) continue;
        energy += of_pair;
        touched_[i] = touched_[j] = 1;
      }
    for (std::size_t k = 0; k < count_; ++k) {
      const std::size_t i = (mine_.begin + k) % count_;
      if (touched_[i] == 0) continue;
      {
        [[maybe_unused]] const auto lock = locks_.of(i);
        for (std::size_t atom = 0; atom < atoms; ++atom) add(all_.molecules[i]->force[atom], forces_[i][atom]);
      }
      forces_[i] = {};
      touched_[i] = 0;
    }
    return energy;
  }

  Worker& me_;
  liquid all_;
  Locks& locks_;
  std::size_t count_;
  apps::row_range mine_;
  std::vector<per_atom> forces_;  ///< that the worker has found in this step
  std::vector<char> touched_;
  std::vector<per_atom> copies_;  ///< of positions, where they are read in turn
};

/// What one worker does; shown(done) after each step.
template <apps::worker Worker, class Locks, class Shown>
outcome simulate(Worker& me, const liquid& all, Locks& locks, int steps, const Shown& shown) {
  mover worker(me, all, locks);
  outcome found{.last = worker.step(true)};
  const double start = found.last.total();
  double change = 0;
  for (int step = 0; step < steps; ++step) {
    found.last = worker.step(false);
    change = std::max(change, std::abs(found.last.total() - start));
    shown(step + 1);
  }
  found.energy_change = change / found.last.kinetic;
  worker.look_back(found);
  return found;
}

}  // namespace water
