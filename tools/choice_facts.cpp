// SPDX-License-Identifier: BSD-3-Clause
// How nodes can talk here, and what Quire will choose, for `quire info`.
#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "detect/userfault/trial.hpp"
#include "facts.hpp"
#include "os/machine.hpp"
#include "os/limits.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "os/userfault.hpp"
#include "pool/pool.hpp"

namespace quire::tools {
namespace {

using json = nlohmann::ordered_json;
using base::detect_choice;
using base::option;

constexpr const char* shared_memory_directory = "/dev/shm";

/// Version of the UCX that programs will get; empty without it. Loaded here and not linked, because UCX patches the
/// memory calls of every process that loads it, and `quire run` has no use for it.
std::string ucx_version() {
  ::setenv("UCX_MEM_EVENTS", "n", 0);
  ::setenv("UCX_HANDLE_ERRORS", "none", 0);
  void* library = ::dlopen("libucp.so.0", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return "";
  const auto version = reinterpret_cast<const char* (*)()>(::dlsym(library, "ucp_get_version_string"));
  return version != nullptr ? version() : "unknown version";
}

/// What messages between nodes of one host travel through.
bool has_memory_without_names() {
  const os::descriptor made(std::max(os::make_memfd("quire info", 4096), -1));
  return made.open() && os::file_may_have(std::uint64_t{5} << 20);
}

bool can_have(os::userfault_mode mode) { return detect::try_userfault(mode).all(); }

struct detector_choice {
  const char* name;
  const char* text;
  bool every_system_call;
};

detector_choice choose_detector(detect_choice asked, bool takes_userfault) {
  static constexpr detector_choice inline_userfault{
      "userfault", "userfault (userfaultfd; the faulting thread handles its fault)", false};
  static constexpr detector_choice thread{"thread", "thread (userfaultfd; the service thread handles faults)", true};
  static constexpr detector_choice segv{"segv", "segv (SIGSEGV and mprotect)", false};
  static constexpr detector_choice none{
      "none", "none: this machine, or the pool, does not allow what QUIRE_DETECT asks for", false};
  if (!takes_userfault) return asked == detect_choice::automatic || asked == detect_choice::segv ? segv : none;
  switch (asked) {
    case detect_choice::userfault:
      return can_have(os::userfault_mode::inline_sigbus) ? inline_userfault : none;
    case detect_choice::thread:
      return can_have(os::userfault_mode::thread) ? thread : none;
    case detect_choice::segv:
      return segv;
    case detect_choice::automatic:
      break;
  }
  return can_have(os::userfault_mode::inline_sigbus) ? inline_userfault : segv;
}

constexpr const char* covered_calls =
    "read write pread pwrite readv writev recv recvfrom recvmsg send sendto sendmsg fread fwrite, futex through "
    "syscall(), and some 200 more (quire(7) has all)";

fact what_fails(const detector_choice& detector, const std::string& no_room) {
  if (std::string_view(detector.name) == "none" || !no_room.empty())
    return {"does not work",
            std::string("any program: quire_start() refuses") +
                (no_room.empty() ? "" : ", as the shared range has no room"),
            "does_not_work", "start"};
  if (detector.every_system_call)
    return {"does not work", "nothing: all system calls work on shared memory", "does_not_work", nullptr};
  std::string text = fmt::format(
      "a system call on a page that is elsewhere returns EFAULT, except through these calls of libc, "
      "which fetch the page first: {}",
      covered_calls);
  if (std::string_view(detector.name) == "segv")
    text += fmt::format(". Each change of protection may cost a mapping, of which a process has {}",
                        read_line("/proc/sys/vm/max_map_count"));
  return {"does not work", text, "does_not_work", json{{"system_calls_except", covered_calls}}};
}

}  // namespace

fact_group transport_facts() {
  const bool writable = ::access(shared_memory_directory, W_OK | X_OK) == 0;
  struct statvfs space {};
  const bool known = ::statvfs(shared_memory_directory, &space) == 0;
  const double free_bytes = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
  const std::string ucx = ucx_version();
  const bool unnamed = has_memory_without_names();
  return {
      "Transports",
      "transports",
      {{"UCX", ucx.empty() ? "not found, so that jobs have one host (libucp.so.0; Debian: apt install libucx0)" : ucx,
        "ucx", ucx.empty() ? json(nullptr) : json(ucx)},
       {"shared memory",
        unnamed ? "yes (5 MiB a node at most, without names)"
                : std::string("no: memory without a name is refused") + os::explain(os::shortage::file_size).text,
        "shared_memory", unnamed},
       {"IPC namespace",
        os::has_own_ipc_namespace() ? "one of its own, as a container has: nodes in another one cannot share "
                                      "memory with those here, and all use "
                                      "TCP (docker run --ipc=host gives one for all)"
                                    : "the machine's",
        "own_ipc_namespace", os::has_own_ipc_namespace()},
       {"/dev/shm (pool 'posix')",
        writable ? fmt::format("yes ({} free)", known ? bytes_text(free_bytes) : "unknown space")
                 : fmt::format("no: {} is not writable", shared_memory_directory),
        "posix_objects",
        json{{"writable", writable},
             {"free_bytes", known ? json(static_cast<std::uint64_t>(free_bytes)) : json(nullptr)}}}}};
}

fact_group choice_facts(const base::option_values& options) {
  pool::settings pages;
  const auto range = static_cast<std::uint64_t>(options.number(option::range));
  pages.which =
      options.given(option::pool) ? static_cast<pool::kind>(options.number(option::pool)) : pool::usual(range / 2);
  pages.directory = options.text(option::pool_dir);
  const char* const pool = pool::name_of(pages.which);
  const auto detector = choose_detector(options.choice<detect_choice>(option::detect), pool::takes_userfault(pages));
  const bool shm = has_memory_without_names();
  const auto asked = options.choice<base::transport_choice>(option::transport);
  const bool tcp = asked == base::transport_choice::tcp || (asked == base::transport_choice::automatic && !shm);
  const char* const transport = tcp ? "tcp" : "shm";
  const auto first = static_cast<std::uint64_t>(options.number(option::base));
  const std::string missing = os::why_no_room(first, range);
  const std::string range_text = fmt::format("{} from {:#x}", bytes_text(static_cast<double>(range)), first);
  return {"What Quire chooses for the nodes of one machine",
          "choice",
          {{"detector", detector.text, "detector", detector.name},
           {"transport", transport, "transport", transport},
           {"pool", pool, "pool", pool},
           {"shared range", missing.empty() ? range_text : range_text + ": " + missing, "range",
            json{{"base", fmt::format("{:#x}", first)}, {"bytes", range}, {"has_room", missing.empty()}}},
           what_fails(detector, missing)}};
}

}  // namespace quire::tools
