// SPDX-License-Identifier: BSD-3-Clause
// Threads of all nodes read and write words of few pages without locks, and each checks that what it reads can be the
// history of one sequentially consistent memory: no word goes back, what somebody knew when telling of it is there for
// whoever heard, exclusion by plain loads and stores holds, and no atomic operation is lost. Another thread of each
// node gives hints, pins and pushes the same pages, and reads and writes more memory than there may be room for.
#include <atomic>

#include "../process/node.hpp"
#include "arguments.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page_bytes = 4096, words_of_a_writer = 4;

struct settings {
  std::uint64_t milliseconds = 1000, seed = 1, unit = page_bytes, pages = 4, threads = 2, hints = 255, ballast = 0,
                placement = 1, pool = 0, detector = 0;
};
/// What the thread beside the writers does, as bits of --hints.
enum hint : unsigned {
  fetches = 1,
  fetches_to_write = 2,
  pushes = 4,
  pins = 8,
  advises = 16,
  takes_advice_back = 32,
  adds = 64,
  ballast = 128
};

using word = std::atomic_ref<std::uint64_t>;

/// Where the words lie: neighbours on different pages, so that a page has words of all kinds and of all writers.
class board {
 public:
  board(char* base, std::size_t pages, std::size_t writers) : base_(base), pages_(pages), writers_(writers) {}
  [[nodiscard]] std::uint64_t* at(std::size_t i) const {
    return reinterpret_cast<std::uint64_t*>(base_ + i % pages_ * page_bytes +
                                            i / pages_ * sizeof(std::uint64_t) % page_bytes);
  }
  /// Written by `writer` alone: its c-th write goes to its word c % words_of_a_writer, and has the value c.
  [[nodiscard]] word written(std::size_t writer, std::size_t k) const {
    return word(*at(writer * words_of_a_writer + k));
  }
  /// The newest value of `about` that `writer` knew.
  [[nodiscard]] word told(std::size_t writer, std::size_t about) const { return word(*at(told_at(writer, about))); }
  [[nodiscard]] std::uint64_t* counter() const { return at(told_at(writers_, 0)); }
  [[nodiscard]] std::uint64_t* guarded() const { return at(told_at(writers_, 0) + 1); }
  [[nodiscard]] word level(std::size_t writer) const { return word(*at(told_at(writers_, 0) + 2 + writer)); }
  [[nodiscard]] word victim(std::size_t of_level) const {
    return word(*at(told_at(writers_, 0) + 2 + writers_ + of_level));
  }
  [[nodiscard]] static std::size_t words(std::size_t writers) {
    return writers * (words_of_a_writer + writers + 2) + 2;
  }
  [[nodiscard]] std::size_t shared_words() const { return told_at(writers_, 0); }
  [[nodiscard]] std::size_t writers() const { return writers_; }
  [[nodiscard]] char* page(std::size_t p) const { return base_ + p * page_bytes; }
  [[nodiscard]] std::size_t pages() const { return pages_; }

 private:
  [[nodiscard]] std::size_t told_at(std::size_t writer, std::size_t about) const {
    return writers_ * words_of_a_writer + writer * writers_ + about;
  }
  char* base_;
  std::size_t pages_, writers_;
};

/// What all threads of a node have done.
struct totals {
  std::atomic<std::uint64_t> reads{0}, atomics{0}, exclusions{0};
};

/// One thread: it writes its words, tells what it knows, and reads what others wrote and told.
class writer {
 public:
  writer(const board& b, std::size_t self, std::uint64_t seed, totals& t)
      : board_(b),
        self_(self),
        random_(mix(seed) + self),
        totals_(t),
        known_(b.writers()),
        read_(b.writers() * words_of_a_writer),
        heard_(b.writers() * b.writers()) {}

  void run(double until) {
    for (std::uint64_t i = 0; i % 64 != 0 || now_seconds() < until; ++i) one();
  }

 private:
  void one() {
    switch (random_.below(8)) {
      case 0:
      case 1:
        known_[self_] = ++count_;
        return board_.written(self_, count_ % words_of_a_writer).store(count_);
      case 2: {
        const std::size_t about = any();
        return board_.told(self_, about).store(known_[about]);
      }
      case 3:
      case 4:
        return read();
      case 5:
      case 6:
        return hear();
      default:
        return add();
    }
  }
  std::size_t any() { return random_.below(board_.writers()); }

  void read() {
    const std::size_t of = any(), k = random_.below(words_of_a_writer);
    const std::uint64_t value = board_.written(of, k).load();
    std::uint64_t& before = read_[of * words_of_a_writer + k];
    // The newest value of this word that is known to have been written.
    std::uint64_t least = known_[of];
    while (least != 0 && least % words_of_a_writer != k) --least;
    if (value < before)
      fail(__FILE__, __LINE__, "word %zu of writer %zu went back from %" PRIu64 " to %" PRIu64, k, of, before, value);
    if (value != 0 && value % words_of_a_writer != k)
      fail(__FILE__, __LINE__, "word %zu of writer %zu is %" PRIu64 ", never written there", k, of, value);
    if (value < least)
      fail(__FILE__, __LINE__, "word %zu of writer %zu is %" PRIu64 ", after %" PRIu64 " was known", k, of, value,
           least);
    if (of == self_ && value != least)
      fail(__FILE__, __LINE__, "the own word %zu is %" PRIu64 ", not %" PRIu64, k, value, least);
    before = value;
    known_[of] = std::max(known_[of], value);
    ++totals_.reads;
  }

  void hear() {
    const std::size_t from = any(), about = any();
    const std::uint64_t value = board_.told(from, about).load();
    std::uint64_t& before = heard_[from * board_.writers() + about];
    if (value < before)
      fail(__FILE__, __LINE__, "what %zu tells of %zu went back from %" PRIu64 " to %" PRIu64, from, about, before,
           value);
    before = value;
    known_[about] = std::max(known_[about], value);
    ++totals_.reads;
  }

  /// By the processor, by Quire where the page is, and by comparing.
  void add() {
    std::uint64_t* const counter = board_.counter();
    std::uint64_t before = 0;
    int done = 0;
    switch (random_.below(3)) {
      case 0:
        word(*counter).fetch_add(1);
        break;
      case 1:
        REQUIRE_OK(quire_fetch_add(counter, 1, &before));
        break;
      default:
        before = word(*counter).load();
        while (done == 0) REQUIRE_OK(quire_compare_exchange(counter, &before, before + 1, &done));
    }
    ++totals_.atomics;
  }

  const board& board_;
  std::size_t self_;
  random_numbers random_;
  totals& totals_;
  std::uint64_t count_ = 0;
  std::vector<std::uint64_t> known_, read_, heard_;
};

/// Peterson's lock for many threads, by plain loads and stores: it excludes under sequential consistency only.
void exclude(const board& b, std::size_t self, double until, totals& t) {
  while (now_seconds() < until) {
    for (std::uint64_t l = 1; l < b.writers(); ++l) {
      b.level(self).store(l);
      b.victim(l).store(self);
      const auto somebody_is_ahead = [&] {
        for (std::size_t other = 0; other < b.writers(); ++other)
          if (other != self && b.level(other).load() >= l) return true;
        return false;
      };
      while (somebody_is_ahead() && b.victim(l).load() == self) std::this_thread::yield();
    }
    auto& guarded = *static_cast<volatile std::uint64_t*>(b.guarded());
    guarded = guarded + 1;
    b.level(self).store(0);
    ++t.exclusions;
  }
}

/// The thread beside them: hints, pins and pushes on the board, and the ballast, each page of which one node writes.
class troublemaker {
 public:
  troublemaker(const board& b, const settings& s, char* more, totals& t)
      : board_(b),
        hints_(s.hints),
        random_(mix(s.seed + 77) + static_cast<std::uint64_t>(quire_node())),
        more_(more),
        totals_(t),
        newest_(s.ballast) {}

  void run(const std::atomic<bool>& over) {
    while (!over) {
      const std::uint64_t which = std::uint64_t{1} << random_.below(8);
      if ((hints_ & which) != 0) one(static_cast<hint>(which));
      if (which != ballast && random_.below(2) == 0) pause(200);
      if ((hints_ & which) == 0) pause(50);
    }
  }

 private:
  void pause(std::uint64_t most_us) { std::this_thread::sleep_for(std::chrono::microseconds(random_.below(most_us))); }

  void one(hint which) {
    const std::size_t first = random_.below(board_.pages()),
                      count = std::min(1 + random_.below(3), board_.pages() - first);
    char* const range = board_.page(first);
    const std::size_t bytes = count * page_bytes;
    switch (which) {
      case fetches:
        return REQUIRE_OK(quire_prefetch(range, bytes, 0));
      case fetches_to_write:
        return REQUIRE_OK(quire_prefetch(range, bytes, 1));
      case pushes:
        if (const quire_status pushed = quire_push(range, bytes); pushed != QUIRE_BUSY) REQUIRE_OK(pushed);
        return;
      case pins:
        return pin(range, bytes);
      case advises:
        return REQUIRE_OK(quire_advise(range, bytes, QUIRE_WILL_WRITE));
      case takes_advice_back:
        return REQUIRE_OK(quire_advise(range, bytes, QUIRE_NORMAL));
      case adds: {
        std::uint64_t before;
        return REQUIRE_OK(quire_fetch_add(board_.at(random_.below(board_.shared_words())), 0, &before));
      }
      case ballast:
        for (int i = 0; i < 40 && !newest_.empty(); ++i) use_ballast(random_.below(newest_.size()));
    }
  }

  void pin(char* range, std::size_t bytes) {
    constexpr std::int64_t times[] = {0, 5, -1};
    int holder;
    const quire_status got = quire_pin(range, bytes, times[random_.below(3)], &holder);
    if (got == QUIRE_BUSY || got == QUIRE_TIMED_OUT) return;
    REQUIRE_OK(got);
    if (random_.below(4) == 0) pause(200);
    REQUIRE_OK(quire_unpin(range, bytes));
  }

  void use_ballast(std::size_t p) {
    const word at(*reinterpret_cast<std::uint64_t*>(more_ + p * page_bytes + p * sizeof(std::uint64_t) % page_bytes));
    const std::uint64_t value = at.load();
    const bool mine = p % static_cast<std::size_t>(quire_nodes()) == static_cast<std::size_t>(quire_node());
    if (mine ? value != newest_[p] : value < newest_[p])
      fail(__FILE__, __LINE__, "page %zu of the ballast is %" PRIu64 " after %" PRIu64, p, value, newest_[p]);
    newest_[p] = value;
    if (mine) at.store(++newest_[p]);
    ++totals_.reads;
  }

  const board& board_;
  std::uint64_t hints_;
  random_numbers random_;
  char* more_;
  totals& totals_;
  std::vector<std::uint64_t> newest_;
};

/// On some of what there is to be shared, all nodes agree by the names under which node 0 publishes it.
board make_board(const settings& s) {
  const std::size_t writers = static_cast<std::size_t>(quire_nodes()) * s.threads;
  auto about = region_options(s.unit, static_cast<quire_placement>(s.placement));
  about.pool = static_cast<quire_pool>(s.pool);
  about.detector = static_cast<quire_detector>(s.detector);
  const std::size_t bytes = std::max(s.pages * page_bytes, s.unit);
  REQUIRE(board::words(writers) <= s.pages * page_bytes / sizeof(std::uint64_t));  // --pages is too small
  return {shared_region<char>("board", bytes, about), s.pages, writers};
}

void write_a_history(const settings& s) {
  const board b = make_board(s);
  char* const more = s.ballast == 0 ? nullptr : shared_object<char>("ballast", s.ballast * page_bytes);
  totals t;
  std::atomic<bool> over{false};
  barrier();
  std::thread trouble([&] { troublemaker(b, s, more, t).run(over); });
  const auto writers = [&](auto&& body) {
    on_threads(static_cast<int>(s.threads),
               [&](int i) { body(static_cast<std::size_t>(quire_node()) * s.threads + static_cast<std::size_t>(i)); });
    barrier();
  };
  const double seconds = static_cast<double>(s.milliseconds) / 1e3, begin = now_seconds();
  writers([&](std::size_t self) { writer(b, self, s.seed, t).run(begin + seconds * 0.6); });
  const double begin_of_exclusion = now_seconds();
  writers([&](std::size_t self) { exclude(b, self, begin_of_exclusion + seconds * 0.4, t); });
  over = true;
  trouble.join();
  barrier();
  std::int64_t sums[] = {static_cast<std::int64_t>(t.reads), static_cast<std::int64_t>(t.atomics),
                         static_cast<std::int64_t>(t.exclusions)};
  REQUIRE_OK(quire_reduce_i64(sums, 3, QUIRE_SUM));
  REQUIRE_EQUAL(word(*b.counter()).load(), sums[1]);
  REQUIRE_EQUAL(word(*b.guarded()).load(), sums[2]);
  if (quire_node() == 0)
    std::printf("checked %" PRId64 " reads, %" PRId64 " atomic operations, %" PRId64 " exclusions\n", sums[0], sums[1],
                sums[2]);
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  read_arguments(argc, argv, "Checks that what threads read of each other's stores is sequentially consistent.",
                 {{"milliseconds", &s.milliseconds, 86'400'000, "how long the threads write and read"},
                  {"seed", &s.seed, ~std::uint64_t{0}, "of what each thread does"},
                  {"unit", &s.unit, 2 << 20, "bytes of the region's units"},
                  {"pages", &s.pages, 1 << 20, "pages over which the words lie"},
                  {"threads", &s.threads, 64, "of each node, beside the one that gives hints"},
                  {"hints", &s.hints, 255,
                   "which hints, the sum of: 1 prefetch, 2 prefetch to write, 4 push, 8 pin, 16 advise, 32 take it "
                   "back, 64 add, 128 ballast"},
                  {"ballast", &s.ballast, 1 << 24, "pages of other memory that are used beside"},
                  {"placement", &s.placement, 3, "quire_placement of the region"},
                  {"pool", &s.pool, 6, "quire_pool of the region"},
                  {"detector", &s.detector, 3, "quire_detector of the region"}});
  REQUIRE(s.threads > 0 && s.pages > 0);
  return node_main([&] { write_a_history(s); });
}
