// SPDX-License-Identifier: BSD-3-Clause
// Loading UCX with Quire's settings; see library.hpp.
#include "transport/ucx/library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstring>
#include <optional>
#include <string>

#include "base/log.hpp"
#include "os/limits.hpp"
#include "os/redirect.hpp"
#include "os/taken_names.hpp"

namespace quire::transport::ucx {
namespace {

/// A setting that UCX reads while it is loaded, in the environment only then: programs that the application starts do
/// not see it. What the user has set wins, always.
class setting {
 public:
  setting(const char* name, const char* value) noexcept : name_(name), ours_(::getenv(name) == nullptr) {
    if (ours_) ::setenv(name, value, 0);
  }
  ~setting() {
    if (ours_) ::unsetenv(name_);
  }
  setting(const setting&) = delete;
  setting& operator=(const setting&) = delete;

 private:
  const char* name_;
  bool ours_;
};
constexpr const char* packed_name = "libucp-quire.so.0";  ///< as no other UCX that the process may load has it

/// In place of UCX's abort(), at assertions of its own and where it has no memory. In version 1.13 some fail in the
/// survivors of a dead peer (tcp_iface.c: an endpoint that was closed while its event was on the way; wireup_ep.c: one
/// that was closed while it was being connected). A status that says so, instead of a signal, lets the launcher name
/// the dead one. No core file: UCX's own words say where.
[[noreturn]] void on_abort() noexcept {
  const auto descriptors = os::explain_if_no_descriptor();
  base::die(
      QUIRE_PEER_LOST,
      "UCX has given up, as it may when another node dies (its own words are on standard output)%s; this node ends",
      descriptors.text);
}

template <class F>
bool find(void* handle, const char* name, F& function) noexcept {
  function = reinterpret_cast<F>(::dlsym(handle, name));
  if (function == nullptr) base::log(base::log_level::error, "UCX lacks the function %s", name);
  return function != nullptr;
}

/// The folder of UCX's libraries that were packed with this library (the Python package does so): quire/ucx beside it.
/// Empty if there are none, and the system's are taken.
std::string packed_folder() {
  Dl_info about{};
  if (::dladdr(reinterpret_cast<void*>(&packed_folder), &about) == 0 || about.dli_fname == nullptr) return {};
  // Where the file is: the loader may have found it by a link in another folder.
  std::array<char, PATH_MAX> file{};
  const std::string self = ::realpath(about.dli_fname, file.data()) != nullptr ? file.data() : about.dli_fname;
  std::string folder = self.substr(0, self.rfind('/') + 1) + "quire/ucx";
  return ::access((folder + '/' + packed_name).c_str(), R_OK) == 0 ? folder : std::string();
}

/// Modules of UCX are ways to send that Quire does not take by itself, with libraries of their own. An MPI in this
/// process takes them: both have the same UCX.
bool needs_modules() noexcept {
  if (::getenv("UCX_TLS") != nullptr) return true;
  const auto is_mpi = [](dl_phdr_info* module, std::size_t, void*) noexcept {
    return module->dlpi_name != nullptr && std::strstr(module->dlpi_name, "/libmpi") != nullptr ? 1 : 0;
  };
  return ::dl_iterate_phdr(is_mpi, nullptr) != 0;
}

void* load_with_settings(bool system) noexcept {
  const std::string packed = system ? std::string() : packed_folder();
  const setting errors{"UCX_HANDLE_ERRORS",
                       "none"};  // no handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE: faults are ours
  const setting debugging{"UCX_DEBUG_SIGNO",
                          "0"};  // no handler for SIGHUP, which would start a debugger where a program ends
  const setting patches{"UCX_MEM_EVENTS", "n"};  // no patches of mmap, munmap, madvise: right for TCP and shared memory
  const setting inspection{"UCX_VFS_ENABLE", "n"};  // no thread and no directory for it
  const setting words{"UCX_LOG_LEVEL", "fatal"};    // UCX writes to standard output; Quire itself tells what was lost
  std::optional<setting> modules, where;
  if (!needs_modules()) modules.emplace("UCX_MODULES", "none");
  if (!packed.empty()) where.emplace("UCX_MODULE_DIR", packed.c_str());  // the system's may be of another version
  const int past_program = os::are_names_of_libc_taken() ? RTLD_DEEPBIND : 0;
  void* const handle = ::dlopen(packed.empty() ? "libucp.so.0" : (packed + '/' + packed_name).c_str(),
                                RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | past_program);
  if (handle == nullptr)
    base::log(base::log_level::error, "UCX cannot be loaded: %s (Debian: apt install libucx0)", ::dlerror());
  return handle;
}

/// UCX loads more, by a call that leads here where the program has names of libc's.
void* load_past_program(const char* file, int mode) noexcept { return ::dlopen(file, mode | RTLD_DEEPBIND); }

/// A program that looks at `environ` has it in its own data. What was loaded past it has found libc's, which is empty.
void lead_past_program() noexcept {
  const os::redirection all[] = {{"dlopen", reinterpret_cast<void*>(&load_past_program)},
                                 {"environ", reinterpret_cast<void*>(&environ)}};
  (void)os::redirect("libucs", all);
}

const library* load_once(bool system) noexcept {
  static library functions;
  void* const handle = load_with_settings(system);
  if (handle == nullptr) return nullptr;
#define QUIRE_UCP_FIND(name) \
  if (!find(handle, "ucp_" #name, functions.name)) return nullptr;
  QUIRE_UCP_FUNCTIONS(QUIRE_UCP_FIND)
#undef QUIRE_UCP_FIND
  const os::redirection calls[] = {{"abort", reinterpret_cast<void*>(&on_abort)}};
  if (os::redirect("libucs", calls) == 0) base::log(base::log_level::debug, "this build of UCX aborts by itself");
  if (os::are_names_of_libc_taken()) lead_past_program();
  return find(handle, "ucs_status_string", functions.status_string) ? &functions : nullptr;
}

}  // namespace

base::result<const library*> load(bool system) noexcept {
  static const library* const loaded = load_once(system);
  if (loaded == nullptr) return QUIRE_UNSUPPORTED;
  return loaded;
}

}  // namespace quire::transport::ucx
