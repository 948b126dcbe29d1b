// SPDX-License-Identifier: BSD-3-Clause
// A litmus test as real processes: litmus_program SHAPE [ROUNDS [release|mixed|transactional]]. Each thread of the
// shape lives on another node, as far as there are nodes. Every kind of access is tried on every layout of the
// variables; an outcome that the access's memory model does not allow ends the program. A histogram tells how often
// each outcome was seen. See README.md. With CONTRACT_MINIPAGES each access is by one of the two addresses of its
// variable.
#include <quire/system.h>
#include <sched.h>

#include <atomic>
#include <quire/transaction.hpp>

#include "../process/node.hpp"
#include "generated.hpp"
#include "models.hpp"

using namespace quire::test;
using namespace quire::test::litmus;

namespace {

using word = std::uint64_t;
constexpr std::size_t page_words = 4096 / sizeof(word), batch = 64;

enum class access { seq_cst, plain, locked, by_quire, barriers, transaction };
enum class layout { same_page, two_pages, own_pages };
constexpr const char* access_names[] = {"seq_cst atomics", "plain",         "under a lock",
                                        "quire atomics",   "with barriers", "in transactions"};
constexpr const char* layout_names[] = {"same page", "two pages", "own pages"};

bool g_relaxed = false;  ///< in a region with release consistency
int g_flag = 1;          ///< the variable that is in the other region, then
bool g_mixed = false;    ///< all are in such a region, but g_flag in a sequential one that orders
bool g_apart = false;    ///< unless all nodes have one memory
bool g_transactional = false;

model model_of(access how) {
  // Message passing, with y as the flag: who sees it sees x, as if both were sequential.
  if (g_relaxed && (how == access::plain || how == access::seq_cst)) return model::coherent;
  return how == access::plain ? model::tso : how == access::locked ? model::serial : model::sequential;
}

/// What all nodes share during one run.
struct board {
  quire_mutex mutex;
  quire_barrier meeting;
  std::uint64_t begin_ns;  ///< when the first round of a batch shall begin
  std::uint8_t registers[batch][max_registers];
};

/// The variables of a run: `words` has both; where they are mixed, `flags` has y.
struct places {
  word *words = nullptr, *flags = nullptr;
};

word* natural_place_of(const places& all, layout where, std::size_t round, int variable) {
  word* const words = variable == g_flag && g_mixed ? all.flags : all.words;
  const auto v = static_cast<std::size_t>(variable);
  switch (where) {
    case layout::same_page:
      return words + variables * round + v;
    case layout::two_pages:
      return words + v * page_words + round;
    case layout::own_pages:
      break;
  }
  return words + (variables * round + v) * page_words + (round * 8) % page_words;
}

/// Threads differ in which of the addresses they use.
word* place_of(const places& all, layout where, std::size_t round, int variable, std::uint64_t draw = 0) {
  return either(natural_place_of(all, where, round, variable), draw);
}

/// The access itself: inlined, so that nothing but the instruction in question comes between two of them.
inline void store(word* at, word value, access how) {
  std::atomic_ref ref(*at);
  std::uint64_t before;
  switch (how) {
    case access::seq_cst:
      return ref.store(value, std::memory_order_seq_cst);
    case access::by_quire:
      REQUIRE_OK(quire_exchange(at, value, &before));
      return;
    default:
      break;
  }
  ref.store(value, std::memory_order_relaxed);
  asm volatile("" ::: "memory");
}
inline word load(word* at, access how) {
  std::atomic_ref ref(*at);
  std::uint64_t before = 0;
  switch (how) {
    case access::seq_cst:
      return ref.load(std::memory_order_seq_cst);
    case access::by_quire:
      REQUIRE_OK(quire_fetch_add(at, 0, &before));
      return before;
    default:
      break;
  }
  const word value = ref.load(std::memory_order_relaxed);
  asm volatile("" ::: "memory");
  return value;
}

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

class test_run {
 public:
  test_run(const shape& test, int rounds) : test_(&test), rounds_(rounds) {
    auto about = region_options(4096, QUIRE_PLACE_MODULO);
    if (g_relaxed) about.consistency = QUIRE_RELEASE;
    if (g_transactional) about.consistency = QUIRE_TRANSACTIONAL;
    if (g_mixed) {
      auto flags = about;
      flags.orders = g_apart ? QUIRE_ORDERS_APART : 1;
      words_.flags = shared_region<word>("litmus flags", variables * batch * 4096, flags);
      about.consistency = QUIRE_RELEASE;
    }
    words_.words = shared_region<word>("litmus words", variables * batch * 4096, about);
    board_ = shared_object<board>("litmus board");
    if (quire_node() == 0) REQUIRE_OK(quire_mutex_create(&board_->mutex));
    barrier();
  }

  /// All batches of one kind of access on one layout, and the verdict.
  void all(access how, layout where) {
    std::map<outcome, int> seen;
    for (std::uint64_t b = 0; b * batch < static_cast<std::uint64_t>(rounds_); ++b) one_batch(how, where, b, seen);
    if (quire_node() != 0) return;
    const auto may_be = allowed(*test_, model_of(how));
    std::printf("%s, %s, %s:\n", test_->name, access_names[static_cast<int>(how)],
                layout_names[static_cast<int>(where)]);
    bool forbidden = false;
    for (const auto& [o, times] : seen) {
      const bool bad = !may_be.contains(o);
      std::printf("  %6d  %s%s\n", times, text_of(*test_, o).c_str(), bad ? "  FORBIDDEN" : "");
      forbidden |= bad;
    }
    if (forbidden) fail(__FILE__, __LINE__, "%s: a forbidden outcome was seen", test_->name);
    if (!g_relaxed || how != access::plain || quire_nodes() == 1) return;
    // What sequential consistency forbids must be seen where nodes write different variables and read the other: else
    // nothing is lazy. In one memory of their host only the processors are.
    const char* const frames = std::getenv("QUIRE_HOST_FRAMES");
    if (frames == nullptr || std::string(frames) != "0") return;
    const auto strong = allowed(*test_, model::sequential);
    for (const auto& [o, times] : seen) weak_ += strong.contains(o) ? 0 : times;
    if (where == layout::own_pages && std::string(test_->name) == "store_buffering") REQUIRE(weak_ > 0);
  }

 public:
  /// One test after the other, of those that were generated: all that was seen, as a line that table.py reads. A cycle
  /// that the model does not allow ends the program.
  void generated_one(const generated& one, access how) {
    test_ = &one.test;
    g_flag = static_cast<int>(used_variables(one.test)) - 1;
    std::map<outcome, int> seen;
    for (std::uint64_t b = 0; b * batch < static_cast<std::uint64_t>(rounds_); ++b)
      one_batch(how, layout::own_pages, b, seen);
    if (quire_node() != 0) return;
    const bool relaxed = g_relaxed && how == access::plain;
    const auto [column, may_be] = relaxed                      ? std::pair{"release", one.release}
                                  : how == access::locked      ? std::pair{"locked", one.locked}
                                  : how == access::barriers    ? std::pair{"barriers", one.barriers}
                                  : how == access::transaction ? std::pair{"transactional", one.transactional}
                                  : how != access::plain       ? std::pair{"sequential", one.sequential}
                                  : g_mixed                    ? std::pair{"mixed", one.mixed}
                                                               : std::pair{"tso", one.tso};
    std::string line;
    for (const auto& [o, times] : seen) line += " " + digits(one.test, o);
    std::printf("litmus %s process some %s nodes %d%s\n", column, one.test.name, quire_nodes(), line.c_str());
    if (seen.contains(one.cycle) && !may_be)
      fail(__FILE__, __LINE__, "%s, %s: a forbidden outcome was seen: %s", one.test.name,
           access_names[static_cast<int>(how)], text_of(one.test, one.cycle).c_str());
  }

 private:
  void one_batch(access how, layout where, std::uint64_t number, std::map<outcome, int>& seen) {
    const int nodes = quire_nodes(), self = quire_node();
    if (static_cast<int>(number) % nodes == self) {
      for (std::size_t round = 0; round < batch; ++round) {
        const auto clear = [&] {
          for (int v = 0; v < static_cast<int>(variables); ++v)
            std::atomic_ref(*place_of(words_, where, round, v)).store(0);
        };
        how == access::transaction ? quire::atomically(clear) : clear();
      }
      if (how == access::barriers)
        REQUIRE_OK(quire_barrier_create(static_cast<std::uint32_t>(test_->threads.size()), &board_->meeting));
      board_->begin_ns = now_ns() + 300'000;
    }
    barrier();
    // In every second batch all nodes begin with copies of all variables.
    if (number / static_cast<std::uint64_t>(nodes) % 2 == 1) {
      for (std::size_t round = 0; round < batch; ++round)
        for (int v = 0; v < static_cast<int>(variables); ++v)
          REQUIRE_EQUAL(load(place_of(words_, where, round, v), access::plain), 0);
      barrier();
    }
    const std::uint64_t begin = std::max(board_->begin_ns, now_ns());
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < test_->threads.size(); ++t)
      if (static_cast<int>(t) % nodes == self)
        threads.emplace_back([this, how, where, number, begin, t] { one_thread(how, where, number, begin, t); });
    for (auto& thread : threads) thread.join();
    barrier();
    if (how == access::barriers && static_cast<int>(number) % nodes == self)
      REQUIRE_OK(quire_barrier_destroy(board_->meeting));
    if (self == 0) {
      for (std::size_t round = 0; round < batch; ++round) {
        outcome o{};
        for (std::size_t r = 0; r < max_registers; ++r) o[r] = board_->registers[round][r];
        for (std::size_t v = 0; v < variables; ++v)
          o[max_registers + v] =
              static_cast<std::uint8_t>(load(place_of(words_, where, round, static_cast<int>(v)), access::plain));
        ++seen[o];
      }
    }
    barrier();
  }

  /// The clock of the machine starts each round on all nodes at about the same time.
  void one_thread(access how, layout where, std::uint64_t number, std::uint64_t begin, std::size_t t) {
    random_numbers random(number * max_threads + t);
    std::array<std::array<word, max_registers>, batch> registers{};
    const auto& steps = test_->threads[t];
    std::size_t meetings = 0;
    for (const auto& others : test_->threads) meetings = std::max(meetings, others.size());
    for (std::size_t round = 0; round < batch; ++round) {
      // Half of the rounds begin together, half a little apart.
      const std::uint64_t start = begin + round * 40'000 + random.below(2) * random.below(8'000);
      word* at[variables];
      for (std::size_t v = 0; v < variables; ++v)
        at[v] = place_of(words_, where, round, static_cast<int>(v), (v == 0 ? round / 2 : round / 8) + t);
      for (std::uint64_t now; (now = now_ns()) < start;)
        if (start - now > 3'000) ::sched_yield();
      const auto all_steps = [&] {
        for (const step& s : steps) {
          if (s.is_store) {
            store(at[s.variable], static_cast<word>(s.value), how);
          } else {
            registers[round][static_cast<std::size_t>(s.value)] = load(at[s.variable], how);
          }
          if (how == access::barriers) REQUIRE_OK(quire_barrier_wait(board_->meeting));
        }
      };
      if (how == access::locked) REQUIRE_OK(quire_mutex_lock(board_->mutex));
      how == access::transaction ? quire::atomically(all_steps) : all_steps();
      if (how == access::locked) REQUIRE_OK(quire_mutex_unlock(board_->mutex));
      for (std::size_t i = steps.size(); how == access::barriers && i < meetings; ++i)
        REQUIRE_OK(quire_barrier_wait(board_->meeting));
    }
    for (const step& s : steps)
      for (std::size_t round = 0; !s.is_store && round < batch; ++round)
        board_->registers[round][s.value] =
            static_cast<std::uint8_t>(registers[round][static_cast<std::size_t>(s.value)]);
  }

  const shape* test_;
  const int rounds_;
  int weak_ = 0;  ///< outcomes that no interleaving explains
  places words_;
  board* board_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "generated") {
    g_relaxed = argc > 3 && std::string(argv[3]) == "release";
    g_apart = argc > 3 && std::string(argv[3]) == "mixed_apart";
    g_mixed = g_apart || (argc > 3 && std::string(argv[3]) == "mixed");
    g_transactional = argc > 3 && std::string(argv[3]) == "transactional";
    return node_main([&] {
      test_run run(all_generated.front().test, argc > 2 ? std::atoi(argv[2]) : 64);
      for (const generated& one : all_generated) {
        run.generated_one(one, g_transactional ? access::transaction : access::plain);
        if (g_mixed || g_transactional) continue;
        for (const auto how : {access::by_quire, access::locked, access::barriers}) run.generated_one(one, how);
      }
    });
  }
  for (const shape& test : shapes()) {
    if (name != test.name) continue;
    g_relaxed = argc > 3 && std::string(argv[3]) == "release";
    g_apart = argc > 3 && std::string(argv[3]) == "mixed_apart";
    g_mixed = g_apart || (argc > 3 && std::string(argv[3]) == "mixed");
    return node_main([&] {
      test_run run(test, argc > 2 ? std::atoi(argv[2]) : 1024);
      for (const auto how : {access::seq_cst, access::plain, access::locked, access::by_quire})
        for (const auto where : {layout::same_page, layout::two_pages, layout::own_pages}) run.all(how, where);
    });
  }
  std::fprintf(stderr, "no litmus test is called '%s'\n", name.c_str());
  return 2;
}
