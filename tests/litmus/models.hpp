// SPDX-License-Identifier: BSD-3-Clause
// Litmus tests as data, and which outcomes a memory model allows them: found by trying every interleaving, so that no
// list of forbidden outcomes is written by hand. The models are explained in README.md: sequential consistency,
// TSO (each thread's stores go through a queue of its own, as on x86), whole threads one after the other (under a
// lock), and coherence alone (each variable for itself is sequentially consistent).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace quire::test::litmus {

inline constexpr std::size_t max_threads = 4, max_registers = 4, variables = 4;

struct step {
  bool is_store;
  int variable;  ///< 0: x, 1: y, and so on
  int value;     ///< store: what; load: the register that takes it
};

struct shape {
  const char* name;
  std::vector<std::vector<step>> threads;
  int registers;
};

inline constexpr step store_x(int v) { return {true, 0, v}; }
inline constexpr step store_y(int v) { return {true, 1, v}; }
inline constexpr step load_x(int r) { return {false, 0, r}; }
inline constexpr step load_y(int r) { return {false, 1, r}; }

inline const std::vector<shape>& shapes() {
  static const std::vector<shape> all = {
      {"store_buffering", {{store_x(1), load_y(0)}, {store_y(1), load_x(1)}}, 2},
      {"message_passing", {{store_x(1), store_y(1)}, {load_y(0), load_x(1)}}, 2},
      {"load_buffering", {{load_x(0), store_y(1)}, {load_y(1), store_x(1)}}, 2},
      {"coherence", {{store_x(1), store_x(2)}, {load_x(0), load_x(1)}, {load_x(2), load_x(3)}}, 4},
      {"iriw", {{store_x(1)}, {store_y(1)}, {load_x(0), load_y(1)}, {load_y(2), load_x(3)}}, 4},
      {"two_plus_two_writes", {{store_x(1), store_y(2)}, {store_y(1), store_x(2)}}, 0},
  };
  return all;
}

/// What the registers and then the variables hold at the end.
using outcome = std::array<std::uint8_t, max_registers + variables>;

enum class model { sequential, tso, serial, coherent };

namespace inside {

struct machine_state {
  std::array<std::size_t, max_threads> next{};
  std::array<std::deque<step>, max_threads> queue;  ///< tso: stores that the others do not see yet
  outcome values{};

  std::uint8_t& memory(int variable) { return values[max_registers + static_cast<std::size_t>(variable)]; }
};

inline void execute(machine_state& s, std::size_t thread, const step& what, model under) {
  if (what.is_store && under == model::tso) {
    s.queue[thread].push_back(what);
  } else if (what.is_store) {
    s.memory(what.variable) = static_cast<std::uint8_t>(what.value);
  } else {
    std::uint8_t seen = s.memory(what.variable);
    for (const step& own : s.queue[thread])
      if (own.variable == what.variable) seen = static_cast<std::uint8_t>(own.value);
    s.values[static_cast<std::size_t>(what.value)] = seen;
  }
}

/// All of a state, to know it again.
inline std::string key_of(const machine_state& s) {
  std::string key(s.values.begin(), s.values.end());
  for (std::size_t t = 0; t < max_threads; ++t) {
    key += static_cast<char>(s.next[t]);
    for (const step& waits : s.queue[t]) key += {static_cast<char>(waits.variable + 1), static_cast<char>(waits.value)};
    key += '\0';
  }
  return key;
}

/// `known`: states that it has been in.
inline void explore(const shape& test, model under, const machine_state& s, std::set<outcome>& found,
                    std::set<std::string>& known) {
  if (!known.insert(key_of(s)).second) return;
  bool any = false;
  for (std::size_t t = 0; t < test.threads.size(); ++t) {
    const auto& steps = test.threads[t];
    if (s.next[t] < steps.size()) {
      any = true;
      machine_state after = s;
      do execute(after, t, steps[after.next[t]++], under);
      while (under == model::serial && after.next[t] < steps.size());
      explore(test, under, after, found, known);
    }
    if (!s.queue[t].empty()) {
      any = true;
      machine_state after = s;
      after.memory(after.queue[t].front().variable) = static_cast<std::uint8_t>(after.queue[t].front().value);
      after.queue[t].pop_front();
      explore(test, under, after, found, known);
    }
  }
  if (!any) found.insert(s.values);
}

}  // namespace inside

/// All outcomes that `under` allows.
inline std::set<outcome> allowed(const shape& test, model under) {
  std::set<outcome> found;
  if (under == model::coherent) {
    std::array<std::set<outcome>, variables> each;
    for (std::size_t v = 0; v < variables; ++v) {
      shape part = test;
      for (auto& steps : part.threads)
        std::erase_if(steps, [v](const step& s) { return s.variable != static_cast<int>(v); });
      std::set<std::string> known;
      inside::explore(part, model::sequential, {}, each[v], known);
    }
    found.insert(outcome{});
    for (const auto& one : each) {
      std::set<outcome> both;
      for (const outcome& x : found) {
        for (const outcome& y : one) {
          outcome sum{};
          for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = static_cast<std::uint8_t>(x[i] + y[i]);
          both.insert(sum);
        }
      }
      found = std::move(both);
    }
    return found;
  }
  std::set<std::string> known;
  inside::explore(test, under, {}, found, known);
  return found;
}

inline std::size_t used_variables(const shape& test) {
  int most = 0;
  for (const auto& steps : test.threads)
    for (const step& s : steps) most = s.variable > most ? s.variable : most;
  return static_cast<std::size_t>(most) + 1;
}

/// "r0=1 r1=0 x=1 y=1".
inline std::string text_of(const shape& test, const outcome& o) {
  std::string text;
  for (int r = 0; r < test.registers; ++r)
    text += "r" + std::to_string(r) + "=" + std::to_string(o[static_cast<std::size_t>(r)]) + " ";
  for (std::size_t v = 0; v < used_variables(test); ++v)
    text += (v == 0 ? "" : " ") + std::string(1, "xyzw"[v]) + "=" + std::to_string(o[max_registers + v]);
  return text;
}

/// "1.0.1.1": the registers, and then the variables.
inline std::string digits(const shape& test, const outcome& o) {
  std::string text;
  for (std::size_t i = 0; i < static_cast<std::size_t>(test.registers); ++i) text += std::to_string(o[i]) + ".";
  for (std::size_t v = 0; v < used_variables(test); ++v)
    text += (v == 0 ? "" : ".") + std::to_string(o[max_registers + v]);
  return text;
}

}  // namespace quire::test::litmus
