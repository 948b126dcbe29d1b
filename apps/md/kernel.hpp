// SPDX-License-Identifier: BSD-3-Clause
// Molecular dynamics in three dimensions by velocity Verlet, after the OpenMP sample md.f (B. Magro, Kuck and
// Associates, 1998). Particles attract each other by the potential sin(min(d, pi/2))^2 of their distance d. The code
// that all programs share, for one worker, who owns some particles and reads the positions of all.
//
// The sample moves particles with the forces of the step before; here a step is in the order of the textbook, which
// conserves energy better. The forces on a particle are added in the order of the others: positions have the very bits
// of a serial run; energies, added per worker, have not.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>

#include "common/partition.hpp"
#include "common/random.hpp"
#include "common/worker.hpp"

namespace md {

inline constexpr std::size_t dimensions = 3;
inline constexpr double box = 10;  ///< length of an edge
inline constexpr double mass = 1;
inline constexpr double time_step = 1e-4;

/// Three coordinates for each particle.
struct particles {
  std::span<double> position, velocity, acceleration;
};

struct energy {
  double potential = 0;
  double kinetic = 0;
  [[nodiscard]] double total() const { return potential + kinetic; }
};

/// At rest, somewhere in the box.
inline void place(const particles& all, apps::row_range mine) {
  apps::random_numbers random(123456789);
  random.skip(mine.begin * dimensions);
  for (std::size_t k = mine.begin * dimensions; k < mine.end * dimensions; ++k) {
    all.position[k] = box * random.next();
    all.velocity[k] = all.acceleration[k] = 0;
  }
}

struct pull {
  std::array<double, dimensions> force{};
  double potential = 0;  ///< half of that of the pairs; the other half is the other particle's
};

/// What all others do to particle i.
[[nodiscard]] inline pull pull_on(std::span<const double> position, std::size_t i) {
  pull sum;
  const double* here = &position[i * dimensions];
  for (std::size_t j = 0; j < position.size() / dimensions; ++j) {
    if (j == i) continue;
    const double* there = &position[j * dimensions];
    std::array<double, dimensions> away;
    double square = 0;
    for (std::size_t k = 0; k < dimensions; ++k) {
      away[k] = here[k] - there[k];
      square += away[k] * away[k];
    }
    const double distance = std::sqrt(square);
    const double sine = std::sin(std::min(distance, std::numbers::pi / 2));
    const double cosine = std::cos(std::min(distance, std::numbers::pi / 2));
    sum.potential += 0.5 * sine * sine;
    const double slope = 2 * sine * cosine / distance;
    for (std::size_t k = 0; k < dimensions; ++k) sum.force[k] -= away[k] * slope;
  }
  return sum;
}

/// The first half of a step: new positions.
inline void move(const particles& all, apps::row_range mine) {
  for (std::size_t k = mine.begin * dimensions; k < mine.end * dimensions; ++k)
    all.position[k] += all.velocity[k] * time_step + 0.5 * time_step * time_step * all.acceleration[k];
}

/// The second half: new accelerations, and velocities changed by the mean of the old and the new.
[[nodiscard]] inline energy accelerate(const particles& all, apps::row_range mine, double step) {
  energy sum;
  for (std::size_t i = mine.begin; i < mine.end; ++i) {
    const pull now = pull_on(all.position, i);
    sum.potential += now.potential;
    for (std::size_t k = 0; k < dimensions; ++k) {
      double& velocity = all.velocity[i * dimensions + k];
      double& acceleration = all.acceleration[i * dimensions + k];
      const double next = now.force[k] / mass;
      velocity += 0.5 * step * (next + acceleration);
      acceleration = next;
      sum.kinetic += 0.5 * mass * velocity * velocity;
    }
  }
  return sum;
}

struct outcome {
  energy last;
  double energy_change = 0;  ///< largest change of the total energy, relative to that of the start
};

/// What one worker does; shown(done) after each step.
template <apps::worker Worker, class Shown>
outcome simulate(Worker& me, const particles& all, apps::row_range mine, int steps, const Shown& shown) {
  const auto add_up = [&](const energy& part) {
    const auto [potential, kinetic] = me.sum(std::array{part.potential, part.kinetic});
    return energy{potential, kinetic};
  };
  const auto own = all.position.subspan(mine.begin * dimensions, (mine.end - mine.begin) * dimensions);
  outcome found{.last = add_up(accelerate(all, mine, 0))};
  const double start = found.last.total();
  for (int step = 0; step < steps; ++step) {
    move(all, mine);
    me.wait();  // all particles have moved
    me.will_read(all.position);
    found.last = add_up(accelerate(all, mine, time_step));  // and all have read their positions
    found.energy_change = std::max(found.energy_change, std::abs((found.last.total() - start) / start));
    me.will_write(own);
    shown(step + 1);
  }
  return found;
}

}  // namespace md
