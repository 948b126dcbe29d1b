// SPDX-License-Identifier: BSD-3-Clause
#include "world.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>

namespace quire::program::steps {
namespace {
world* g_now = nullptr;
}

world::world() { g_now = this; }
world::~world() { g_now = nullptr; }
world& world::now() noexcept { return *g_now; }

int world::add(std::uint64_t value, const char* name) noexcept {
  if (static_cast<std::size_t>(words_) == most_words) std::abort();
  names_[words_] = name;
  words_hash_ += join(static_cast<std::uint64_t>(words_), value);
  return words_++;
}

void world::live(void* at) {
  const member& m = *static_cast<member*>(at);
  world& w = now();
  w.program_->run(m.number);
  for (;;) w.stop(doing::ended);
}

void world::begin(program& p) {
  program_ = &p;
  for (int i = 0; i < p.threads(); ++i) {
    members_.push_back(std::make_unique<member>());
    member& m = *members_.back();
    m.number = i;
    m.stack.set(live, &m);
  }
  for (int i = 0; i < p.threads(); ++i) go(i);
}

void world::go(int thread) {
  running_ = thread;
  self().stack.enter();
  running_ = -1;
}

bool world::has_ended(int thread) const noexcept {
  return members_[static_cast<std::size_t>(thread)]->what == doing::ended;
}

bool world::can_go(int thread) const noexcept {
  const member& m = *members_[static_cast<std::size_t>(thread)];
  switch (m.what) {
    case doing::runs:
      return true;
    case doing::waits:
      return m.innermost->stale_;
    case doing::wants_lock:
      return !m.wanted->held_;
    case doing::ended:
      return false;
  }
  return false;
}

std::uint64_t world::fingerprint() const noexcept {
  std::uint64_t all = join(words_hash_, program_->fingerprint());
  for (const auto& m : members_) {
    const bool woken = m->what == doing::waits && m->innermost->stale_;  // as if it had come to its look() just now
    std::uint64_t its = join(m->known, static_cast<std::uint64_t>(woken ? doing::runs : m->what));
    for (const watch* w = m->innermost; w != nullptr; w = w->outer_) {
      if (w == m->innermost && woken) continue;
      its = join(its,
                 join(std::hash<std::bitset<most_words>>{}(w->read_), (w->stale_ ? 2u : 0u) + (w->changed_ ? 1u : 0u)));
    }
    all += join(static_cast<std::uint64_t>(program_->role(m->number)), its);
  }
  return all;
}

void world::stop(doing what) {
  member& m = self();
  m.what = what;
  m.stack.leave();
  m.what = doing::runs;
}

void world::fail(const std::string& what) {
  if (failure_.empty()) failure_ = "thread " + std::to_string(running_) + ": " + what;
  for (;;) stop(doing::ended);
}

void world::settle(std::uint64_t where) noexcept { self().known = join(1, where); }

void world::step() {
  member& m = self();
  if (m.quiet_locks != 0) return require(++m.quiet_words == 1, "the test uses several words under a quiet lock");
  if (!m.woken) stop(doing::runs);
  m.woken = false;
  know(0);  // that it has gone on: not every step sees or changes something
}

void world::saw(int word, std::uint64_t value) noexcept {
  know(join(static_cast<std::uint64_t>(word), value));
  for (watch* w = self().innermost; w != nullptr; w = w->outer_) w->read_.set(static_cast<std::size_t>(word));
}

void world::hash_in(int word, std::uint64_t from, std::uint64_t to) noexcept {
  words_hash_ += join(static_cast<std::uint64_t>(word), to) - join(static_cast<std::uint64_t>(word), from);
}

void world::wake_readers(int word) noexcept {
  for (const auto& m : members_) {
    if (m->number == running_) continue;
    for (watch* w = m->innermost; w != nullptr; w = w->outer_)
      w->stale_ = w->stale_ || w->read_.test(static_cast<std::size_t>(word));
  }
}

void world::changed(int word, std::uint64_t from, std::uint64_t to) noexcept {
  hash_in(word, from, to);
  wake_readers(word);
  know(static_cast<std::uint64_t>(word));
  for (watch* w = self().innermost; w != nullptr; w = w->outer_) w->changed_ = true;
}

void world::tell(const char* what, int word, std::uint64_t a, std::uint64_t b) {
  if (!traced_) return;
  const auto number = [](std::uint64_t n) {
    char text[24];
    std::snprintf(text, sizeof text, n > 9 ? "%#lx" : "%lu", n);
    return std::string(text);
  };
  story_ += "  thread " + std::to_string(running_) + " " + what + " " + names_[word] + " #" + std::to_string(word) +
            ": " + number(a);
  if (a != b) story_ += ", " + number(b);
  story_ += "\n";
}

void mutex::lock() {
  world& w = world::now();
  world::member& m = w.self();
  if (m.quiet_locks != 0) w.fail("the test takes a lock under a quiet lock");
  m.wanted = this;
  if (held_ || !m.woken) w.stop(world::doing::wants_lock);
  m.woken = false;
  w.know(0);
  held_ = true;
  w.tell("takes", id_, 1, 1);
  if (quiet_) {
    ++m.quiet_locks;
    m.quiet_words = 0;
  } else {
    w.hash_in(id_, 0, 1);
  }
}

bool mutex::try_lock() {
  world& w = world::now();
  w.step();
  if (held_) {
    w.tell("cannot have", id_, 1, 1);
    w.saw(id_, 1);
    return false;
  }
  w.tell("takes", id_, 1, 1);
  w.know(1);
  held_ = true;
  w.hash_in(id_, 0, 1);
  return true;
}

void mutex::unlock() {
  world& w = world::now();
  if (quiet_) {
    --w.self().quiet_locks;
  } else {
    w.step();
    w.tell("gives back", id_, 1, 1);
    w.hash_in(id_, 1, 0);
    w.wake_readers(id_);
  }
  held_ = false;
}

watch::watch() noexcept : outer_(world::now().self().innermost), known_(world::now().self().known) {
  world::now().self().innermost = this;
}
watch::~watch() { world::now().self().innermost = outer_; }
void watch::look() noexcept {
  world::now().self().known = known_;
  read_.reset();
  changed_ = stale_ = false;
}
void watch::wait() {
  world& w = world::now();
  if (changed_ || stale_) return;
  w.self().known = known_;
  w.stop(world::doing::waits);
  w.self().woken = true;
}

}  // namespace quire::program::steps
