// SPDX-License-Identifier: BSD-3-Clause
// Containers as files of a mounted directory (QUIRE_MOUNT), with programs of the system on the other side.
//   mount_program programs FILE            nodes start programs, which read what nodes have stored and store what nodes
//                                          then load
//   mount_program serve FILE CONSTANT      containers "memory", "data" (FILE) and "constant" (CONSTANT, read-only),
//                                          until standard input ends
//   mount_program held FILE [self]         containers "slow" (FILE), whose linker does not answer, and "memory", to
//                                          which the last node appends a byte at each SIGUSR1; until killed. self: node
//                                          0 reads the file of "slow"
//   mount_program names                    programs rename and remove containers that nodes have open
//   mount_program saved STATE FILE         makes a checkpoint while containers that programs have renamed and removed
//                                          are open; the next job compares
//   mount_program leave                    node 0 ends without quire_end() and with one of these files open
//   mount_program late                     node 1 starts a program when node 0 is in quire_end()
#include <fcntl.h>
#include <quire/container.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node.hpp"

namespace {

using quire::test::barrier;

constexpr std::size_t bytes = 1 << 20;

std::string at(const char* name) { return std::string(std::getenv("QUIRE_MOUNT")) + "/" + name; }

/// A program of the system; it has to end well.
void run(const std::string& words) {
  const int status = std::system(words.c_str());
  if (status != 0) quire::test::fail(__FILE__, __LINE__, "'%s' gave %d", words.c_str(), status);
}

quire_container open(const char* name, const char* what, unsigned flags, std::uint64_t length,
                     const char* linker = nullptr) {
  quire_container_options how{};
  how.size = sizeof how;
  how.linker = linker;
  how.what = what;
  how.flags = flags | QUIRE_CONTAINER_CREATE;
  how.bytes = length;
  quire_container c{};
  REQUIRE_OK(quire_container_open(name, &how, &c));
  return c;
}

char* memory_of(quire_container c) {
  void* address = nullptr;
  REQUIRE_OK(quire_container_map(c, &address, nullptr));
  return static_cast<char*>(address);
}

std::uint64_t length_of(quire_container c) {
  std::uint64_t length = 0;
  REQUIRE_OK(quire_container_bytes(c, &length));
  return length;
}

/// Each node in turn does one thing, and all look.
template <class F, class G>
void in_turn(F&& one, G&& all) {
  for (int node = 0; node < quire_nodes(); ++node) {
    if (quire_node() == node) one(node);
    barrier();
    all(node);
    barrier();
  }
}

/// What one container shows to memory it shows to programs, and the reverse.
void exchange(const char* name, quire_container c) {
  char* const memory = memory_of(c);
  in_turn(
      [&](int node) {  // a store, then programs on the same bytes
        std::memset(memory + node * 5000, 'a' + node, 5000);
        run("test \"$(dd if=" + at(name) + " bs=1000 skip=" + std::to_string(node * 5) +
            " count=5 status=none | tr -d '" + std::string(1, static_cast<char>('a' + node)) + "' | wc -c)\" = 0");
      },
      [&](int) {});
  in_turn(
      [&](int node) {
        run("printf 'written by dd %d' " + std::to_string(node) + " | dd of=" + at(name) +
            " bs=1 seek=" + std::to_string(300'000 + 4096 * node - 4) + " conv=notrunc status=none");
      },
      [&](int node) {
        REQUIRE(std::string(memory + 300'000 + 4096 * node - 4, 15) == "written by dd " + std::to_string(node));
      });
  const std::uint64_t before = length_of(c);
  barrier();  // nobody appends before all have read it
  in_turn([&](int node) { run("echo line " + std::to_string(node) + " >> " + at(name)); },
          [&](int node) {
            const std::uint64_t end = before + 7 * static_cast<std::uint64_t>(node);
            REQUIRE_EQUAL(length_of(c), end + 7);
            REQUIRE(std::string(memory + end, 7) == "line " + std::to_string(node) + "\n");
          });
  // All at a time: no line is lost.
  const std::uint64_t then = length_of(c);
  barrier();  // a node that has not looked yet would see the first lines of the others
  for (int i = 0; i < 20; ++i) run("echo 'from " + std::to_string(quire_node()) + "' >> " + at(name));
  barrier();
  REQUIRE_EQUAL(length_of(c), then + 20 * 7 * static_cast<std::uint64_t>(quire_nodes()));
  barrier();
  if (quire_node() == 0) {
    run("truncate -s 100000 " + at(name));
    struct stat facts {};
    REQUIRE(::stat(at(name).c_str(), &facts) == 0 && facts.st_size == 100'000);
  }
  barrier();
  REQUIRE_EQUAL(length_of(c), 100'000);
  barrier();
}

void with_programs(const char* file) {
  quire_container memory = open("memory", nullptr, 0, bytes), data = open("data", file, 0, 0);
  REQUIRE_EQUAL(length_of(memory), bytes);
  barrier();
  exchange("memory", memory);
  exchange("data", data);
  if (quire_node() == 0)
    run("sync " + at("data") + " && cmp " + at("data") + " " + file + " && cp " + at("data") + " " + at("copy"));
  barrier();
  // What a program has made is a container.
  quire_container_options how{};
  how.size = sizeof how;
  quire_container copy{};
  REQUIRE_OK(quire_container_open("copy", &how, &copy));
  REQUIRE_EQUAL(length_of(copy), 100'000);
  REQUIRE(std::memcmp(memory_of(copy), memory_of(data), 100'000) == 0);
  // The kernel reads a file of the mount into memory of another container, on a node that does not have its pages.
  const int d = ::open(at("copy").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(d >= 0);
  in_turn(
      [&](int node) {
        REQUIRE_OK(quire_container_truncate(memory, 0));
        REQUIRE_OK(quire_container_truncate(memory, bytes));
        REQUIRE_EQUAL(::pread(d, memory_of(memory) + 1, 50'000, node), 50'000);
      },
      [&](int node) { REQUIRE(std::memcmp(memory_of(memory) + 1, memory_of(data) + node, 50'000) == 0); });
  ::close(d);
  REQUIRE_OK(quire_container_close(copy));
  barrier();
  if (quire_node() == 0) run("rm " + at("copy"));
  barrier();
  REQUIRE_STATUS(quire_container_open("copy", &how, &copy), QUIRE_NOT_FOUND);
}

void serve(const char* file, const char* constant) {
  quire_container memory = open("memory", nullptr, 0, bytes);
  (void)open("data", file, 0, 0);
  (void)open("constant", constant, QUIRE_CONTAINER_READ_ONLY, 0);
  if (quire_node() == quire_nodes() - 1)
    for (std::size_t i = 0; i < bytes; ++i) memory_of(memory)[i] = static_cast<char>(i * 7 / 5);
  barrier();
  if (quire_node() != 0) return barrier();
  std::printf("ready %d\n", static_cast<int>(::getpid()));
  std::fflush(stdout);
  while (std::getchar() != EOF) continue;
  barrier();
}

quire_status find(const char* name, quire_container& c) {
  quire_container_options how{};
  how.size = sizeof how;
  return quire_container_open(name, &how, &c);
}

void rename_and_remove() {
  quire_container one = open("one", nullptr, 0, bytes), two = open("two", nullptr, 0, 100), c{};
  barrier();
  in_turn(
      [&](int node) {  // there and back
        memory_of(one)[0] = static_cast<char>('a' + node);
        run("mv " + at("one") + " " + at("other"));
      },
      [&](int node) {
        REQUIRE_STATUS(find("one", c), QUIRE_NOT_FOUND);
        REQUIRE_OK(find("other", c));
        REQUIRE_EQUAL(memory_of(c)[0], 'a' + node);
        REQUIRE_EQUAL(length_of(c), bytes);
        REQUIRE_OK(quire_container_close(c));
        barrier();
        if (quire_node() == node) run("mv " + at("other") + " " + at("one"));
      });
  if (quire_node() == 0)
    run("mv " + at("one") + " " + at("two") + " && test \"$(ls " + at("") + ")\" = two && test $(stat -c %s " +
        at("two") + ") = " + std::to_string(bytes));
  barrier();
  REQUIRE_EQUAL(length_of(two), 100);  // it has no name, and is still there
  in_turn([&](int node) { memory_of(two)[node] = 'x'; }, [&](int node) { REQUIRE_EQUAL(memory_of(two)[node], 'x'); });
  quire_container again = open("one", nullptr, QUIRE_CONTAINER_CREATE, 10);
  REQUIRE_EQUAL(length_of(again), 10);
  REQUIRE_OK(quire_container_close(two));
  barrier();
  REQUIRE_OK(find("two", c));
  REQUIRE_EQUAL(length_of(c), bytes);
  REQUIRE_OK(quire_container_close(c));
  barrier();
  if (quire_node() == quire_nodes() - 1)
    run("rm " + at("two") + " " + at("one") + " && test -z \"$(ls " + at("") + ")\"");
  barrier();
  REQUIRE_STATUS(find("two", c), QUIRE_NOT_FOUND);
  REQUIRE_OK(quire_container_append(again, "y", 1, nullptr));
  REQUIRE_OK(quire_container_close(again));
  REQUIRE_OK(quire_container_close(one));
  barrier();
  for (int i = 0; i < 20 && quire_node() == 0; ++i) {
    c = open("short-lived", nullptr, 0, 0);
    if (i % 5 == 0) run("rm " + at("short-lived"));
    REQUIRE_OK(quire_container_close(c));
    if (i % 5 != 0) REQUIRE_OK(quire_container_remove("short-lived", 0));
  }
  barrier();
}

std::string names_there() {
  std::string all;
  REQUIRE_OK(quire_container_list(
      [](void* to, const char* name, std::uint64_t, unsigned) {
        *static_cast<std::string*>(to) += std::string(name) + " ";
        return 0;
      },
      &all));
  return all;
}

void save(const char* state, const char* file) {
  quire_container c{};
  const quire_status restored = quire_restore(state);
  if (restored == QUIRE_OK) {
    REQUIRE(names_there() == "renamed ");
    barrier();
    REQUIRE_OK(find("renamed", c));
    REQUIRE_EQUAL(memory_of(c)[1000], 'k');
    c = open("removed", nullptr, 0, 10);
    REQUIRE_EQUAL(length_of(c), 10);
    return barrier();
  }
  REQUIRE_STATUS(restored, QUIRE_NOT_FOUND);
  const quire_container kept = open("kept", nullptr, 0, bytes), removed = open("removed", nullptr, 0, bytes),
                        linked = open("linked", file, 0, 0);
  barrier();
  if (quire_node() == 0) run("mv " + at("kept") + " " + at("renamed") + " && rm " + at("removed") + " " + at("linked"));
  barrier();
  memory_of(kept)[1000] = 'k';
  memory_of(removed)[1000] = 'r';
  memory_of(linked)[1000] = 'l';
  barrier();
  REQUIRE_OK(quire_checkpoint(state));
  REQUIRE_EQUAL(memory_of(removed)[1000], 'r');
  REQUIRE_OK(quire_container_close(removed));
  REQUIRE_OK(quire_container_close(linked));
  barrier();
  REQUIRE(names_there() == "renamed ");
  barrier();
}

/// Calls on these files by other programs are held: by a linker, or by the last node once somebody stops it.
void hold(const char* file, bool self) {
  const quire_container memory = open("memory", nullptr, 0, 4096);
  (void)open("slow", ("latency_us=1000000000;file;" + std::string(file)).c_str(), 0, 0, "throttle");
  int* const pids = quire::test::shared_object<int>("pids", static_cast<std::size_t>(quire_nodes()));
  pids[quire_node()] = static_cast<int>(::getpid());
  sigset_t asked;
  sigemptyset(&asked);
  sigaddset(&asked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &asked, nullptr);
  barrier();
  while (quire_node() != 0) {
    int number = 0;
    REQUIRE_EQUAL(::sigwait(&asked, &number), 0);
    REQUIRE_OK(quire_container_append(memory, "x", 1, nullptr));
    std::printf("appended\n");
    std::fflush(stdout);
  }
  std::printf("ready");
  for (int node = 0; node < quire_nodes(); ++node) std::printf(" %d", pids[node]);
  std::printf("\n");
  std::fflush(stdout);
  char byte = 0;
  if (self) (void)::pread(::open(at("slow").c_str(), O_RDONLY | O_CLOEXEC), &byte, 1, 0);
  while (true) ::pause();
}

void end_late() {
  const quire_container memory = open("memory", nullptr, 0, bytes);
  memory_of(memory)[quire_node()] = static_cast<char>('0' + quire_node());
  barrier();
  if (quire_node() != 1) return;
  ::sleep(1);  // the other one waits in quire_end() by then
  run("test \"$(head -c 2 " + at("memory") + ")\" = 01 && printf x | dd of=" + at("memory") +
      " conv=notrunc status=none");
  REQUIRE(memory_of(memory)[0] == 'x');
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  REQUIRE_OK(quire_start(nullptr));
  if (what == "programs" && argc == 3) {
    with_programs(argv[2]);
  } else if (what == "serve" && argc == 4) {
    serve(argv[2], argv[3]);
  } else if (what == "saved" && argc == 4) {
    save(argv[2], argv[3]);
  } else if (what == "names") {
    rename_and_remove();
  } else if (what == "held" && argc >= 3) {
    hold(argv[2], argc == 4);
  } else if (what == "leave") {
    (void)open("memory", nullptr, 0, bytes);
    barrier();
    if (quire_node() == 0) {
      REQUIRE(::open(at("memory").c_str(), O_RDWR) >= 0);
      ::_exit(0);
    }
    ::sleep(60);
  } else if (what == "late") {
    end_late();
  } else {
    return 2;
  }
  REQUIRE_OK(quire_end());
}
