// SPDX-License-Identifier: BSD-3-Clause
// A node whose engine is a process of its own (pool 'fork'), for split_test: split_program CASE.
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "node.hpp"

using namespace quire::test;

namespace {

std::string content_of(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The other process with the environment that this one was started with, which names its node.
pid_t engine() {
  const std::string mine = content_of("/proc/self/environ");
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid == 0 || pid == ::getpid() || content_of(entry.path() / "environ") != mine) continue;
    if (std::filesystem::read_symlink(entry.path() / "exe", gone).filename() == "split_program") return pid;
  }
  return 0;
}

std::uint64_t* make_words(std::size_t units) {
  quire_region_options options{};
  options.size = sizeof options;
  static quire_region region;
  void* at = nullptr;
  if (quire_node() == 0) {
    REQUIRE_OK(quire_region_create(&options, units * 4096, &region));
    REQUIRE_OK(quire_region_range(region, &at, nullptr));
    REQUIRE_OK(quire_publish("words", at));
  } else {
    REQUIRE_OK(quire_lookup("words", -1, &at));
  }
  return static_cast<std::uint64_t*>(at);
}

void no_child_of_the_application() {
  REQUIRE(::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD);
  REQUIRE(engine() != 0);
}

void other_pools_are_refused() {
  quire_region_options options{};
  options.size = sizeof options;
  options.pool = QUIRE_POOL_MEMFD;
  quire_region region;
  REQUIRE_STATUS(quire_region_create(&options, 4096, &region), QUIRE_UNSUPPORTED);
  options.pool = QUIRE_POOL_FORK;
  REQUIRE_OK(quire_region_create(&options, 4096, &region));
}

/// More threads than there are ways to the engine's process, though not at once.
void threads_come_and_go(std::uint64_t* words) {
  for (int round = 0; round < 100; ++round) {
    on_threads(12, [&](int i) { std::atomic_ref(words[512 * static_cast<std::size_t>(i)]).fetch_add(1); });
  }
  barrier();
  for (std::size_t i = 0; i < 12; ++i) {
    REQUIRE_EQUAL(std::atomic_ref(words[512 * i]).load(), 100 * quire_nodes());
  }
  barrier();
}

std::uint64_t* g_words;
std::atomic<int> g_signals{0};

/// A handler that comes in the middle of a call touches shared memory, which is a call within a call.
void signals_in_the_middle(std::uint64_t* words) {
  g_words = words + 512 * 16;
  struct sigaction act {};
  act.sa_handler = [](int) {
    std::atomic_ref(g_words[0]).fetch_add(1);
    ++g_signals;
  };
  REQUIRE(::sigaction(SIGALRM, &act, nullptr) == 0);
  const itimerval often{{0, 2000}, {0, 2000}};
  REQUIRE(::setitimer(ITIMER_REAL, &often, nullptr) == 0);
  quire_mutex mutex;
  if (quire_node() == 0) {
    REQUIRE_OK(quire_mutex_create(&mutex));
    std::memcpy(words + 512 * 17, &mutex, sizeof mutex);
  }
  barrier();
  std::memcpy(&mutex, words + 512 * 17, sizeof mutex);
  std::uint64_t rounds = 0;
  for (const double until = now_seconds() + 30; g_signals < 50 && now_seconds() < until; ++rounds) {
    REQUIRE_OK(quire_mutex_lock(mutex));
    ++words[512 * 18];
    REQUIRE_OK(quire_mutex_unlock(mutex));
  }
  const itimerval never{};
  REQUIRE(::setitimer(ITIMER_REAL, &never, nullptr) == 0);
  REQUIRE(g_signals >= 50);
  std::uint64_t before = 0;
  REQUIRE_OK(quire_fetch_add(&words[512 * 19], rounds, &before));
  REQUIRE_OK(quire_fetch_add(&words[512 * 19 + 1], static_cast<std::uint64_t>(g_signals.load()), &before));
  barrier();
  REQUIRE_EQUAL(words[512 * 18], words[512 * 19]);
  REQUIRE_EQUAL(g_words[0], words[512 * 19 + 1]);
  barrier();
}

void a_forked_child_stands_alone(std::uint64_t* words) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (quire_barrier_wait(quire_barrier{0}) != QUIRE_FORKED) ::_exit(3);
    ::signal(SIGSEGV, SIG_DFL);
    ::_exit(std::atomic_ref(words[0]).load() == 0 ? 4 : 5);  // ends by SIGSEGV
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

void whole() {
  auto* const words = make_words(32);
  barrier();
  no_child_of_the_application();
  if (quire_node() == 0) other_pools_are_refused();
  threads_come_and_go(words);
  signals_in_the_middle(words);
  a_forked_child_stands_alone(words);
  barrier();
}

[[noreturn]] void wait_for_death() {
  std::printf("node %d is %d, its engine %d\n", quire_node(), ::getpid(), engine());
  std::fflush(stdout);
  sleep_ms(60'000);
  fail(__FILE__, __LINE__, "the death of the engine was not noticed");
}

/// Writes what the test will look for, and crashes.
void crash() {
  auto* const words = make_words(8);
  barrier();
  if (quire_node() == 1) {
    for (std::size_t unit = 1; unit < 8; unit += 2) words[unit * 512 + 3] = 0x1234567800 + unit;
    std::printf("words at 0x%lx\n", reinterpret_cast<unsigned long>(words));
    std::fflush(stdout);
    ::raise(SIGKILL);
  }
  sleep_ms(60'000);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "whole";
  REQUIRE_OK(quire_start(nullptr));
  if (what == "wait") wait_for_death();
  if (what == "crash") crash();
  if (what == "exec") {
    if (quire_node() == 1) ::execl("/bin/sleep", "sleep", "60", nullptr);
    barrier();
  }
  whole();
  REQUIRE_OK(quire_end());
  REQUIRE_EQUAL(engine(), 0);
  return 0;
}
