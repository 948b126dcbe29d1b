// SPDX-License-Identifier: BSD-3-Clause
// Code in the shared memory: what one node loads runs on all. code_program FOLDER [what]. The modules stand in
// tests/process/code.
#include <dlfcn.h>
#include <fcntl.h>
#include <quire/code.hpp>
#include <quire/quire.hpp>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>

#include "code/shapes.hpp"
#include "code_refusals.hpp"
#include "node.hpp"

namespace {
/// The largest allocation of this thread that succeeds.
thread_local std::size_t g_most_bytes = ~std::size_t{0};
}  // namespace
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const made = bytes <= g_most_bytes ? std::malloc(bytes != 0 ? bytes : 1) : nullptr;
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace quire::test;
using namespace code_test;

namespace {

/// No node has mapped the file.
void check_unmapped(const std::string& file) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) REQUIRE(line.find(file) == std::string::npos);
}

/// Functions, and variables that are one for all.
void functions_and_variables(code::module shapes) {
  check_unmapped("shapes.so");
  REQUIRE_EQUAL(symbol<change_function>(shapes, "change")(41), 42);
  REQUIRE_EQUAL(symbol<int(int, int)>(shapes, "change_by")(0, 21), 42);
  REQUIRE_EQUAL(symbol<int(int, int)>(shapes, "change_by")(1, -42), 42);  // a variable leads to a function of libc
  REQUIRE_EQUAL(symbol<int(int, int)>(shapes, "change_by_fixed")(0, -42), 42);
  REQUIRE_EQUAL(symbol<int(int, int)>(shapes, "change_by_fixed")(1, 21), 42);
  REQUIRE_EQUAL(symbol<std::size_t(const char*)>(shapes, "length_of")("four"), 4);
  REQUIRE(std::abs(symbol<double(double)>(shapes, "root_of")(27.0) - 3.0) < 1e-12);
  int& number = variable<int>(shapes, "number");
  if (self() == 0) REQUIRE_EQUAL(number, 40);
  barrier();
  for (int node = 0; node < nodes(); ++node) {
    if (node == self()) REQUIRE_EQUAL(symbol<int()>(shapes, "next_number")(), 41 + node);
    barrier();
  }
  REQUIRE_EQUAL(number, 40 + nodes());
  barrier();
  if (self() == 0) number = 40;
  char* const zeroes = symbol<char>(shapes, "zeroes");
  zeroes[(self() + 1) * 100'000] = static_cast<char>(self() + 1);
  barrier();
  for (int node = 0; node < nodes(); ++node) REQUIRE_EQUAL(zeroes[(node + 1) * 100'000], node + 1);
  REQUIRE_EQUAL(zeroes[5], 0);
  barrier();
  if (self() == last()) symbol<const char*(int)>(shapes, "describe")(17);
  barrier();
  if (self() == 0) REQUIRE(symbol<const char*(int)>(shapes, "describe")(18) == std::string_view("number 18"));
  barrier();
}

/// Constructors have run on the node that loads, and variables in functions are initialised by one thread of all.
void once_in_the_job(code::module shapes, int loader) {
  REQUIRE_EQUAL(variable<int>(shapes, "constructed"), 1);
  REQUIRE_EQUAL(variable<int>(shapes, "constructed_on"), loader);
  auto* const once = symbol<int()>(shapes, "once");
  barrier();
  on_threads(2, [&](int) { REQUIRE_EQUAL(once(), 7); });
  barrier();
  REQUIRE_EQUAL(variable<int>(shapes, "initialised"), 1);
}

struct table {
  alignas(std::max_align_t) std::byte place[8][64];
  shape* made[8];
  change_function* pointers[8];
};

/// Objects that a node has made are used by others: virtual functions, pointers to functions, types.
void objects_and_pointers(code::module shapes, const std::string& run) {
  auto* const all = shared_object<table>("table " + run);
  const int mine = self() % 8;
  if (nodes() > 8) return;
  all->made[mine] =
      symbol<make_function>(shapes, "make_shape")(all->place[mine], mine % 2 == 0 ? kind::circle : kind::square, 5.0);
  all->pointers[mine] = mine % 3 == 0   ? symbol<change_function>(shapes, "change")
                        : mine % 3 == 1 ? symbol<change_function*()>(shapes, "import_pointer")()
                                        : symbol<change_function*(int)>(shapes, "change_pointer")(1);
  barrier();
  for (int node = 0; node < nodes(); ++node) {
    const shape& one = *all->made[node];
    REQUIRE(one.hit(3.0) == (node % 2 == 0 ? 4.0 : 5.0));
    REQUIRE(one.name() == std::string_view(node % 2 == 0 ? "circle" : "square"));
    REQUIRE_EQUAL(symbol<bool(const shape*)>(shapes, "is_circle")(&one), node % 2 == 0);
    REQUIRE_EQUAL(all->pointers[node](-8), node % 3 == 0 ? -7 : 8);
  }
  const double sum = symbol<double(shape* const*, int, double)>(shapes, "hit_all")(all->made, nodes(), 3.0);
  REQUIRE(sum == 4.0 * ((nodes() + 1) / 2) + 5.0 * (nodes() / 2));
  barrier();
  all->made[(self() + 1) % nodes()]->~shape();
  barrier();
}

int throws_program_error(int value) { throw program_error{value}; }

/// They are thrown by shared code and caught outside, thrown outside and pass through shared code, or stay in it.
void exceptions(code::module shapes) {
  auto* const fail_with = symbol<void(int)>(shapes, "fail_with");
  int& unwound = variable<int>(shapes, "unwound");
  quire::mutex lock = quire::from_node(0, quire::mutex::create);
  const auto caught = [&](auto&& f) {
    const std::scoped_lock guard(lock);  // destructors in the module count
    f();
  };
  const int before = unwound;
  barrier();
  caught([&] {
    int value = 0;
    try {
      fail_with(100 + self());
    } catch (const module_error& e) {
      value = e.value;
    }
    REQUIRE_EQUAL(value, 100 + self());
  });
  caught([&] {
    int value = 0;
    try {
      symbol<call_back_function>(shapes, "call_back")(throws_program_error, 200 + self());
    } catch (const program_error& e) {
      value = e.value;
    }
    REQUIRE_EQUAL(value, 200 + self());
  });
  caught([&] { REQUIRE_EQUAL(symbol<change_function>(shapes, "catch_inside")(300 + self()), 300 + self()); });
  barrier();
  REQUIRE_EQUAL(unwound - before, 3 * nodes());
  barrier();
}

/// A child has no shared memory. It handles exceptions of its own, whether the unwinder has looked at the module's
/// tables before or not.
void child_with_exceptions() {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int caught = 0;
    try {
      throw program_error{3};
    } catch (const program_error& e) {
      caught = e.value;
    }
    ::_exit(caught == 3 ? 0 : 1);
  }
  int status = -1;
  REQUIRE_EQUAL(::waitpid(child, &status, 0), child);
  REQUIRE_EQUAL(status, 0);
  barrier();
}

void remote_threads(code::module shapes) {
  auto* const remote = symbol<void*(void*)>(shapes, "remote");
  const int to = (self() + 1) % nodes();
  quire_remote_thread thread{};
  REQUIRE_OK(quire_spawn(to, remote, reinterpret_cast<void*>(1000), &thread));
  void* result = nullptr;
  REQUIRE_OK(quire_join(thread, &result));
  REQUIRE_EQUAL(reinterpret_cast<std::uintptr_t>(result), 1001 + to);
  barrier();
}

/// While threads of all nodes call a function it becomes another one, and again.
void replacing(code::module shapes) {
  const code::function<change_function> change(shapes, "change");
  const code::module newer = load_on(last(), "newer");
  barrier();
  if (self() == 0) {
    bool refused = false;
    code::replace(shapes, "change", newer);
    try {
      code::unload(newer);
    } catch (const quire::error& e) {
      refused = e.status() == QUIRE_BUSY && std::string(e.what()).find("'newer.so'") != std::string::npos;
    }
    REQUIRE(refused);
    code::replace(shapes, "change", shapes);
  }
  barrier();
  std::atomic<bool> stop{false};
  std::thread caller([&] {
    while (!stop.load()) {
      const int got = change(-7);
      REQUIRE(got == -6 || got == 1007);
    }
  });
  for (int round = 0; round < 20; ++round) {
    const bool is_new = round % 2 == 0;
    if (self() == round % nodes()) code::replace(shapes, "change", is_new ? newer : shapes);
    barrier();
    REQUIRE_EQUAL(change(-7), is_new ? 1007 : -6);
    REQUIRE_EQUAL(symbol<change_function>(shapes, "change")(-7), -6);  // the module's own
    barrier();
  }
  stop.store(true);
  caller.join();
  barrier();
  REQUIRE(variable<int>(newer, "changes_made") >= 10 * nodes());
  barrier();
  if (self() == 0) {  // a module that goes uses no other one any more
    const code::module user = load_hidden("newer", {.name = "user"});
    code::replace(user, "change", newer);
    require_refused(QUIRE_BUSY, {"'newer.so'"}, [&] { code::unload(newer); });
    code::unload(user);
    code::unload(newer);
  }
  barrier();
  REQUIRE(!code::find_for("newer.so", std::chrono::milliseconds(0)).has_value());
}

/// An import that a single node has; then all.
void imports_of_some() {
  const std::string library = path_of("only_here");
  if (self() == 0) REQUIRE(::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr);
  barrier();
  if (self() == 0 && nodes() > 1) {
    for (int i = 0; i < 3; ++i)
      require_refused(QUIRE_NOT_FOUND, {"partial.so", "'only_here'", "node 1"},
                      [] { (void)code::load(path_of("partial")); });
    REQUIRE(!code::find_for("partial.so", std::chrono::milliseconds(0)).has_value());
  }
  barrier();
  if (self() != 0) REQUIRE(::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr);
  barrier();
  const code::module partial = load_on(0, "partial");
  REQUIRE_EQUAL(symbol<change_function>(partial, "call_partial")(1), 6);
  barrier();
  if (self() == 0) code::unload(partial);
  barrier();
}

/// Comes and goes many times, on all nodes in turn: destructors run once, and addresses are given back.
void coming_and_going() {
  auto* const ended = shared_object<int>("ended");
  for (int round = 0; round < 12; ++round) {
    const std::string name = "round " + std::to_string(round);
    const code::module shapes = load_on(round % nodes(), "shapes", {.name = name});
    if (self() == 0) {
      REQUIRE_EQUAL(variable<int>(shapes, "constructed"), 1);
      REQUIRE_EQUAL(variable<int>(shapes, "number"), 40);
      *ended = 0;
      variable<int*>(shapes, "ended") = ended;
    }
    barrier();
    REQUIRE_EQUAL(symbol<change_function>(shapes, "catch_inside")(round), round);
    barrier();
    if (self() == (round + 1) % nodes()) {
      code::unload(shapes);
      require_refused(QUIRE_NOT_FOUND, {"unloaded"}, [&] { code::unload(shapes); });
    }
    barrier();
    REQUIRE_EQUAL(*ended, 101);
    require_refused(QUIRE_NOT_FOUND, {"handle"}, [&] { (void)code::symbol<int>(shapes, "number"); });
    barrier();
  }
}

/// All nodes load at a time, each twice, and find all.
void many_at_a_time() {
  code::module mine[2];
  on_threads(2, [&](int thread) {
    mine[thread] = load_hidden("newer", {.name = "newer " + std::to_string(2 * self() + thread)});
  });
  for (int i = 0; i < 2 * nodes(); ++i) {
    const code::module one = code::find("newer " + std::to_string(i));
    REQUIRE_EQUAL(symbol<change_function>(one, "change")(-i), 1000 + i);
    if (i > 0)
      REQUIRE(symbol<change_function>(one, "change") != symbol<change_function>(code::find("newer 0"), "change"));
  }
  barrier();
  REQUIRE_EQUAL(variable<int>(mine[0], "changes_made"), nodes());
  barrier();
  on_threads(2, [&](int thread) { code::unload(mine[thread]); });
  barrier();
}

/// Refused when its variables have gone already, as its code is pinned. The same node calls again.
void unloading_the_rest() {
  const code::module newer = load_on(0, "newer");
  auto* const change = symbol<change_function>(newer, "change");
  REQUIRE_EQUAL(change(-1), 1001);
  barrier();
  if (self() == 0) {
    const void* const pinned = reinterpret_cast<const void*>(change);
    int holder = -1;
    REQUIRE_OK(quire_pin(pinned, 1, -1, &holder));
    for (int i = 0; i < 2; ++i) require_refused(QUIRE_BUSY, {"pinned"}, [&] { code::unload(newer); });
    REQUIRE_OK(quire_unpin(pinned, 1));
    code::unload(newer);
    require_refused(QUIRE_NOT_FOUND, {"unloaded"}, [&] { code::unload(newer); });
  }
  barrier();
}

/// A load that fails after the constructors runs destructors. Where the variables cannot go, the code's addresses are
/// nobody else's.
void giving_up() {
  if (self() == last()) {
    for (const bool pinned : {false, true}) {
      REQUIRE_EQUAL(::unsetenv("QUIRE_TEST_ENDED"), 0);
      if (pinned) REQUIRE_EQUAL(::setenv("QUIRE_TEST_PIN", "1", 1), 0);
      require_refused(QUIRE_EXISTS, {"'takes_name.so'"}, [] { (void)code::load(path_of("takes_name")); });
      REQUIRE(std::getenv("QUIRE_TEST_ENDED") != nullptr);
    }
    void* variable = nullptr;
    REQUIRE_OK(quire_lookup("code:takes_name.so", 0, &variable));
    const code::module newer = load_hidden("newer");
    REQUIRE_EQUAL(symbol<change_function>(newer, "change")(-1), 1001);
    *static_cast<char*>(variable) = 1;
    REQUIRE_OK(quire_unpin(variable, 1));
    code::unload(newer);
  }
  barrier();
}

/// There is no memory for the variables, when their regions are made already: the load is refused, and nothing is left
/// behind.
void no_memory() {
  if (self() == last()) {
    const auto load = [] { return code::load(path_of("large")); };
    const code::module before = load();
    const long* const place = symbol<long>(before, "large");
    code::unload(before);
    for (int i = 0; i < 3; ++i) {
      g_most_bytes = 1 << 20;
      require_refused(QUIRE_NO_MEMORY, {"large.so", "node " + std::to_string(self())}, load);
      g_most_bytes = ~std::size_t{0};
    }
    const code::module after = load();
    REQUIRE(symbol<long>(after, "large") == place);
    code::unload(after);
  }
  barrier();
}

/// Refused half-way, and called again by another node: destructors run once, and another module loses one user.
void unloading_again() {
  const code::module shapes = load_on(0, "shapes", {.name = "pinned"}), other = load_on(0, "shapes", {.name = "other"}),
                     newer = load_on(0, "newer");
  auto* const ended = shared_object<int>("ended once");
  char* const pinned = symbol<char>(shapes, "zeroes") + (1 << 20);
  if (self() == 0) {
    *ended = 0;
    variable<int*>(shapes, "ended") = ended;
    code::replace(shapes, "change", newer);
    code::replace(other, "change", newer);
  }
  barrier();
  int holder = -1;
  if (self() == last()) REQUIRE_OK(quire_pin(pinned, 1, -1, &holder));
  barrier();
  if (self() == 0) require_refused(QUIRE_BUSY, {"pinned"}, [&] { code::unload(shapes); });
  barrier();
  REQUIRE_EQUAL(*ended, 101);
  if (self() == last()) {
    REQUIRE_OK(quire_unpin(pinned, 1));
    code::unload(shapes);
  }
  barrier();
  REQUIRE_EQUAL(*ended, 101);
  barrier();
  if (self() == 0) {
    require_refused(QUIRE_BUSY, {"'newer.so'"}, [&] { code::unload(newer); });
    code::unload(other);
    code::unload(newer);
  }
  barrier();
}

/// Constructors that dlopen(3) runs, with the dynamic linker's lock, load while other nodes do.
void loads_in_constructors() {
  REQUIRE(::setenv("QUIRE_TEST_MODULE", path_of("newer").c_str(), 1) == 0);
  const std::string library = path_of("loads");
  for (int round = 0; round < 40; ++round) {
    if (self() == 0) {
      void* const opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
      REQUIRE(opened != nullptr);
      REQUIRE_EQUAL(*static_cast<const int*>(::dlsym(opened, "loaded_by_constructor")), QUIRE_OK);
      REQUIRE_EQUAL(::dlclose(opened), 0);
    } else {
      code::unload(load_hidden("newer", {.name = "newer " + std::to_string(self())}));
    }
  }
  barrier();
}

void large_variables() {
  const code::module large = load_on(last(), "large");
  long* const all = symbol<long>(large, "large");
  all[static_cast<long>(self() + 1) << 19] = self() + 1;
  barrier();
  REQUIRE_EQUAL(symbol<long(long)>(large, "sum_large")(1l << 19), 3 + nodes() * (nodes() + 1) / 2);
  barrier();
  if (self() == 0) code::unload(large);
  barrier();
}

/// Variables with release consistency: what barriers order is seen.
void relaxed_variables() {
  const code::module shapes = load_on(0, "shapes", {.name = "relaxed", .consistency = quire::consistency::release});
  int* const words = reinterpret_cast<int*>(symbol<char>(shapes, "zeroes"));
  words[self()] = self() + 1;
  barrier();
  for (int node = 0; node < nodes(); ++node) REQUIRE_EQUAL(words[node], node + 1);
  REQUIRE_EQUAL(symbol<int()>(shapes, "once")(), 7);
  barrier();
  REQUIRE_EQUAL(variable<int>(shapes, "initialised"), 1);
  REQUIRE_EQUAL(symbol<change_function>(shapes, "catch_inside")(9), 9);
  barrier();
  if (self() == 0) code::unload(shapes);
  barrier();
}

void everything() {
  for (const int loader : {0, last()}) {
    const std::string run = std::to_string(loader) + (loader == last() ? " last" : " first");
    const code::module shapes = load_on(loader, "shapes");
    child_with_exceptions();
    once_in_the_job(shapes, loader);
    functions_and_variables(shapes);
    objects_and_pointers(shapes, run);
    exceptions(shapes);
    child_with_exceptions();
    remote_threads(shapes);
    if (loader == last()) replacing(shapes);
    refusals(shapes);
    if (self() == 0) code::unload(shapes);
    barrier();
    if (nodes() == 1) break;
  }
  if (nodes() == 1) return;
  imports_of_some();
}

/// A node dies: what it has not loaded goes on elsewhere; with --replicas 1 what it has loaded does, too. Another
/// module comes and goes afterwards.
void survive(int dies) {
  const code::module shapes = load_on(1, "shapes");
  if (self() != dies) REQUIRE_EQUAL(symbol<change_function>(shapes, "change")(1), 2);
  barrier();
  if (self() == dies) ::_exit(1);
  while (quire_nodes_alive() == nodes()) sleep_ms(5);
  const int first = dies == 0 ? 1 : 0;
  sleep_ms(200);
  REQUIRE_EQUAL(symbol<change_function>(shapes, "catch_inside")(5), 5);
  REQUIRE_EQUAL(symbol<int(int, int)>(shapes, "change_by")(1, -8), 8);
  REQUIRE_EQUAL(symbol<int()>(shapes, "once")(), 7);
  barrier();
  REQUIRE_EQUAL(variable<int>(shapes, "initialised"), 1);
  if (dies == 0) {  // who gives numbers and addresses
    if (self() == first) {
      require_refused(QUIRE_LOST, {}, [] { (void)load_hidden("newer"); });
      int ended = 0;
      variable<int*>(shapes, "ended") = &ended;
      for (int i = 0; i < 2; ++i) require_refused(QUIRE_LOST, {"node 0"}, [&] { code::unload(shapes); });
      REQUIRE_EQUAL(ended, 0);  // it stays as it is
      REQUIRE_EQUAL(symbol<change_function>(shapes, "catch_inside")(6), 6);
    }
    barrier();
    return;
  }
  const code::module newer = load_on(first, "newer");
  REQUIRE_EQUAL(symbol<change_function>(newer, "change")(-1), 1001);
  barrier();
  if (self() == first) {
    code::unload(newer);
    code::unload(shapes);
  }
  barrier();
}

/// Who has loaded a module dies, and what nobody else has of it is lost. Exceptions of the program go on, though the
/// unwinder looks at the module's tables.
void survive_loader() {
  const code::module many = load_on(1, "many_functions");
  barrier();
  if (self() == 1) {
    REQUIRE_EQUAL(symbol<int(int, int)>(many, "add_number")(10, 1), 11);
    ::_exit(1);
  }
  while (quire_nodes_alive() == nodes()) sleep_ms(5);
  sleep_ms(200);
  int caught = 0;
  try {
    throw program_error{3};
  } catch (const program_error& e) {
    caught = e.value;
  }
  REQUIRE_EQUAL(caught, 3);
  barrier();
}

/// The pool of the job, or one that is asked for, cannot have it.
void refuse_pool(quire_pool pool, const char* word) {
  quire_code_options options{};
  options.size = sizeof options;
  options.pool = pool;
  quire_code made{};
  REQUIRE_STATUS(quire_code_load(path_of("newer").c_str(), &options, &made), QUIRE_UNSUPPORTED);
  if (*word != 0) REQUIRE(std::string_view(quire_last_error()).find(word) != std::string_view::npos);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  g_folder = argv[1];
  const std::string_view what = argc > 2 ? argv[2] : "";
  REQUIRE_OK(quire_start(nullptr));
  if (what == "fork") {
    refuse_pool(QUIRE_POOL_DEFAULT, "fork");
  } else if (what == "no_fork") {
    if (self() == 0) refuse_pool(QUIRE_POOL_FORK, "");
    barrier();
  } else if (what == "noexec") {  // /dev/shm is mounted so
    if (self() == 0) refuse_pool(QUIRE_POOL_POSIX, "");
    barrier();
    const code::module newer = load_on(0, "newer");  // by the pool of the job
    REQUIRE_EQUAL(symbol<change_function>(newer, "change")(-1), 1001);
  } else if (what == "write" || what == "jump") {
    const code::module shapes = load_on(0, "shapes");
    if (self() == last()) {
      void* data = nullptr;
      REQUIRE_OK(quire_malloc(4096, &data));
      std::memset(data, 0xc3, 4096);
      if (what == "jump") reinterpret_cast<void (*)()>(data)();
      *symbol<volatile char>(shapes, "change") = 0;
    }
    barrier();
  } else if (what == "destroyed") {
    const code::module shapes = load_on(0, "shapes");
    auto* const change = symbol<change_function>(shapes, "change");
    barrier();
    if (self() == 0) code::unload(shapes);
    barrier();
    if (self() == last()) (void)change(1);
    barrier();
  } else if (what == "coming") {
    coming_and_going();
    many_at_a_time();
    unloading_again();
    unloading_the_rest();
    giving_up();
    no_memory();
    loads_in_constructors();
    large_variables();
    relaxed_variables();
  } else if (what == "survive") {
    survive(std::atoi(argv[3]));
  } else if (what == "survive_loader") {
    survive_loader();
  } else if (what == "left") {  // loaded still when the job ends
    const code::module shapes = load_on(last(), "shapes");
    REQUIRE_EQUAL(symbol<change_function>(shapes, "catch_inside")(1), 1);
  } else {
    everything();
  }
  REQUIRE_OK(quire_end());
  int caught = 0;
  try {  // the unwinder knows nothing of code that has gone
    throw program_error{1};
  } catch (const program_error& e) {
    caught = e.value;
  }
  REQUIRE_EQUAL(caught, 1);
  return 0;
}
