// SPDX-License-Identifier: BSD-3-Clause
// page_update_properties: what sets the page pools apart (ParADE, Table 4), each found out on this machine: how many
// addresses a shared byte takes, how large a pool can be, which detectors watch it, whether the disk slows it down,
// what is left after kill -9, and whether the content outlives the program. Prints lines of JSON: {"name": pool,
// property: value, ...}.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "common/clock.hpp"
#include "common/program.hpp"
#include "detect/detector.hpp"
#include "os/memory.hpp"
#include "pool/pool.hpp"
#include "split/begin.hpp"

namespace {

namespace pool = quire::pool;
namespace split = quire::split;

constexpr std::uint64_t MiB = std::uint64_t{1} << 20;
constexpr std::uint64_t size = 64 * MiB;
constexpr std::uint64_t large = std::uint64_t{64} << 30;
constexpr std::uint64_t mark = 0x6d61726b;

/// How many addresses of this process belong to shared mappings.
std::uint64_t addresses() {
  std::uint64_t sum = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long first = 0, end = 0;
    char rights[8] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %7s", &first, &end, rights) == 3 && rights[3] == 's') sum += end - first;
  }
  return sum;
}

std::unique_ptr<pool::pool> make(pool::kind which, std::uint64_t bytes, bool written = false) {
  int error = 0;
  void* const at = quire::os::reserve(bytes, nullptr, error);
  if (at == nullptr) return nullptr;
  pool::settings how;
  how.which = which;
  how.written = written;
  auto made = pool::make(how, reinterpret_cast<std::uint64_t>(at), bytes, true);
  if (made.ok()) return std::move(made.value());
  quire::os::unmap(at, bytes);
  return nullptr;
}

/// Median nanoseconds to copy a page into the system view.
double copy_ns(pool::pool& p) {
  const std::vector<std::byte> content(quire::os::page_bytes, std::byte{2});
  std::vector<double> times;
  for (std::uint64_t at = 0; at < p.bytes(); at += quire::os::page_bytes) {
    const auto start = bench::now_ns();
    std::memcpy(p.system_view() + at, content.data(), quire::os::page_bytes);
    times.push_back(static_cast<double>(bench::now_ns() - start));
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// Objects of the system that outlive a process: names in /dev/shm and the directory of temporary files, segments.
std::size_t objects() {
  std::size_t count = 0;
  for (const char* directory : {"/dev/shm", "/var/tmp"}) {
    DIR* const d = ::opendir(directory);
    while (d != nullptr && ::readdir(d) != nullptr) ++count;
    if (d != nullptr) ::closedir(d);
  }
  std::ifstream segments("/proc/sysvipc/shm");
  return count + static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(segments), {}, '\n'));
}

/// What a process that makes and uses a pool leaves when it is killed.
template <class Use>
std::size_t left_by(Use use) {
  const std::size_t before = objects();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    use();
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  const std::size_t after = objects();
  return after > before ? after - before : 0;
}

struct row {
  std::string name;
  double addresses_per_byte = 0;
  const char* holds_64_gib = "null";  ///< true, false; null: not tried
  std::string detectors;
  double copy_after_sync = 0;
  std::size_t left_after_kill = 0;
  bool content_after_kill = false;

  void print() const {
    std::printf(
        "{\"name\": \"%s\", \"addresses_per_byte\": %.2f, \"holds_64_gib\": %s, \"detectors\": \"%s\", "
        "\"copy_after_sync\": %.2f, \"left_after_kill\": %zu, \"content_after_kill\": %s}\n",
        name.c_str(), addresses_per_byte, holds_64_gib, detectors.c_str(), copy_after_sync, left_after_kill,
        content_after_kill ? "true" : "false");
  }
};

std::string detectors_of(std::byte* at, quire::os::address_space& space) {
  std::string words;
  for (const auto& [word, mode] : {std::pair{"userfault", quire::os::userfault_mode::inline_sigbus},
                                   std::pair{"thread", quire::os::userfault_mode::thread}}) {
    const quire::os::descriptor fd(space.open_userfault(mode));
    if (!fd.open() || quire::os::userfault_register(fd.number(), at, size) != 0) continue;
    (void)!quire::os::userfault_unregister(fd.number(), at, size);
    words += std::string(word) + " ";
  }
  if (space.protect(at, size, 0) == 0) words += "segv";
  return words;
}

row look_at(const char* name, pool::kind which, bool written) {
  row r;
  r.name = name;
  const std::uint64_t before = addresses();
  {
    const auto p = make(which, size, written);
    if (p == nullptr) throw std::runtime_error(name);
    r.addresses_per_byte = static_cast<double>(addresses() - before) / static_cast<double>(size);
    (void)copy_ns(*p);  // makes frames
    const double hot = copy_ns(*p);
    ::sync();
    r.copy_after_sync = copy_ns(*p) / hot;
    r.detectors = detectors_of(p->application_view(), quire::os::this_process());
  }
  // A file that is written full would take the disk.
  if (!written) r.holds_64_gib = make(which, large) != nullptr ? "true" : "false";
  r.left_after_kill = left_by([&] {
    const auto p = make(which, MiB, written);
    if (p != nullptr) std::memset(p->system_view(), 1, MiB);
  });
  r.content_after_kill = r.left_after_kill != 0;  // where nothing is left, nobody can tell it
  return r;
}

/// A process that splits, is killed, and whose engine then looks at what it has written last.
bool content_survives() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  (void)left_by([&] {
    int error = 0;
    void* const at = quire::os::reserve(MiB, nullptr, error);
    quire::os::unmap(at, MiB);
    auto sides = split::begin(reinterpret_cast<std::uint64_t>(at), MiB, split::way::ring);
    if (!sides.ok()) return;
    auto* const word = static_cast<volatile std::uint64_t*>(at);
    if (auto* const engine = sides.value().engine.get(); engine != nullptr) {
      (void)engine->protect(at, MiB, PROT_READ | PROT_WRITE);
      engine->report(0, 0, 1, 0, false);
      engine->serve([&] {
        const std::uint64_t found = *word;
        (void)!::write(ends[1], &found, sizeof found);
      });
    }
    (void)sides.value().application->wait_for_start();
    *word = mark;
    ::raise(SIGKILL);
  });
  ::close(ends[1]);
  std::uint64_t found = 0;
  const bool told = ::read(ends[0], &found, sizeof found) == sizeof found && found == mark;
  ::close(ends[0]);
  return told;
}

row look_at_fork() {
  row r;
  r.name = "fork";
  const auto room = [](std::uint64_t bytes) {
    int error = 0;
    void* const at = quire::os::reserve(bytes, nullptr, error);
    quire::os::unmap(at, bytes);
    return reinterpret_cast<std::uint64_t>(at);
  };
  const std::uint64_t before = addresses();
  const std::uint64_t at = room(size);
  auto sides = split::begin(at, size, split::way::ring);
  if (!sides.ok()) throw std::runtime_error("fork");
  if (auto* const engine = sides.value().engine.get(); engine != nullptr) {
    // The results go back in the shared pages themselves.
    auto made = pool::make({pool::kind::fork, "", false, 0, engine}, at, size, true);
    if (!made.ok()) throw std::runtime_error("fork");
    auto& p = *made.value();
    (void)copy_ns(p);
    const double hot = copy_ns(p);
    ::sync();
    const double ratio = copy_ns(p) / hot;
    const std::string words = detectors_of(p.application_view(), *engine);
    (void)engine->protect(p.application_view(), size, PROT_READ | PROT_WRITE);
    std::snprintf(reinterpret_cast<char*>(p.system_view()), quire::os::page_bytes, "%f %s", ratio, words.c_str());
    engine->report(0, 0, 1, 0, false);
    engine->serve([] {});
  }
  (void)sides.value().application->wait_for_start();
  r.addresses_per_byte = static_cast<double>(addresses() - before) / static_cast<double>(size);
  const char* const text = reinterpret_cast<const char*>(at);
  r.copy_after_sync = std::strtod(text, nullptr);
  r.detectors = std::strchr(text, ' ') + 1;
  sides.value().application.reset();
  auto far = split::begin(room(large), large, split::way::ring);
  if (far.ok() && far.value().engine != nullptr) {
    far.value().engine->report(0, 0, 1, 0, false);
    far.value().engine->serve([] {});
  }
  r.holds_64_gib = far.ok() && far.value().application->wait_for_start() == 0 ? "true" : "false";
  r.content_after_kill = content_survives();
  r.left_after_kill = left_by([] { (void)content_survives(); });
  return r;
}

void run() {
  quire::base::log_set_level(quire::base::log_level::error);
  using enum pool::kind;
  look_at("memfd", memfd, false).print();
  look_at("posix", posix, false).print();
  look_at("mdup", mdup, false).print();
  look_at("file, ftruncate()", file, false).print();
  look_at("file, write()", file, true).print();
  look_at("sysv", sysv, false).print();
  look_at_fork().print();
}

}  // namespace

int main(int argc, char** argv) {
  bench::program here("What sets the page pools apart, found out on this machine.");
  return here.run(argc, argv, run);
}
