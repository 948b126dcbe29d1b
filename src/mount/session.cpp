// SPDX-License-Identifier: BSD-3-Clause
// Begin, threads and end of a mount.
#include "mount/session.hpp"

#include "base/log.hpp"
#include "mount/mount.hpp"

#ifndef QUIRE_HAVE_FUSE
namespace quire::mount {
base::result<std::unique_ptr<mounted>> open(const std::string& directory, bool) {
  base::log(base::log_level::error,
            "nothing is mounted at %s: this Quire was built without libfuse3 (Debian: libfuse3-dev)",
            directory.c_str());
  return QUIRE_UNSUPPORTED;
}
}  // namespace quire::mount
#else
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "mount/watcher.hpp"
#include "os/foreign_library.hpp"
#include "os/mounts.hpp"
#include "os/own_thread.hpp"
#include "os/process.hpp"
#include "os/signals_held.hpp"
namespace quire::mount {
namespace {

constexpr unsigned threads = 16;  ///< requests that may wait for their files at a time

/// What libfuse says goes into our own sentence. It has no place for a pointer of ours.
thread_local std::string g_said;

/// Descriptors that a forked child must not keep: the kernel would not notice the end of this process.
std::atomic<int> g_device{-1}, g_pipe{-1};
void close_in_child() {
  for (auto* const one : {&g_device, &g_pipe})
    if (const int number = one->exchange(-1); number >= 0) ::close(number);
}

}  // namespace

base::status session::mount(const std::string& directory) {
  const auto refused = [&](const std::string& why, quire_status status) {
    base::log(base::log_level::error, "nothing can be mounted at %s: %s", directory.c_str(), why.c_str());
    return base::status(status);
  };
  if (const std::string why = os::why_no_mount_at(directory); !why.empty())
    return refused(why, why.starts_with("/dev/fuse") ? QUIRE_UNSUPPORTED : QUIRE_BAD_OPTION);
  where_ = os::canonical_directory(directory);
  stop_ = os::descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_.open()) return refused("cannot make a descriptor: " + os::error_text(errno), QUIRE_SYSTEM);
  names_.know(root, 0755);
  const os::close_on_exec_scope descriptors;
  const os::signals_held signals;
  g_said.clear();
  fuse_.set_log_func([](fuse_log_level, const char* format, va_list arguments) {
    char text[300];
    std::vsnprintf(text, sizeof text, format, arguments);
    g_said = text;
    while (g_said.ends_with('\n')) g_said.pop_back();
  });
  fuse_args arguments{};
  bool complete = true;
  for (const char* const word : {"quire", "-o", "fsname=quire,subtype=quire,default_permissions"})
    complete = complete && fuse_.opt_add_arg(&arguments, word) == 0;
  const fuse_lowlevel_ops table = operations(fuse_);
  if (complete) session_ = fuse_.session_new(&arguments, &table, sizeof table, this);
  fuse_.opt_free_args(&arguments);
  if (session_ == nullptr) return refused("libfuse3: " + g_said, QUIRE_SYSTEM);
  errno = 0;
  if (fuse_.session_mount(session_, where_.c_str()) != 0) {
    const bool denied = errno == EPERM || errno == EACCES;
    const std::string hint = ::geteuid() != 0 ? "; who is not root needs fusermount3 (Debian: apt install fuse3)"
                             : denied ? "; in a container, start that with --device /dev/fuse --cap-add SYS_ADMIN"
                                      : "";
    return refused((g_said.empty() ? os::error_text(errno) : g_said) + hint, QUIRE_SYSTEM);
  }
  mounted_ = true;
  auto watcher = watch_own_death(where_);
  if (!watcher.ok())
    return refused("cannot start /bin/sh, which is to unmount when this node dies: " + os::error_text(errno),
                   QUIRE_SYSTEM);
  watcher_ = std::move(watcher.value());
  static std::once_flag once;
  std::call_once(once, [] { ::pthread_atfork(nullptr, nullptr, close_in_child); });
  g_device.store(fuse_.session_fd(session_));
  g_pipe.store(watcher_.number());
  return {};
}

void session::serve(files& shown) {
  show(shown);
  const int device = fuse_.session_fd(session_);
  (void)os::set_blocking(device, false);
  for (unsigned i = 0; i < threads; ++i) threads_.push_back(os::start_server([this] { work(); }));
}

/// Of all threads that wait, the kernel wakes one.
void session::work() {
  ::pthread_setname_np(::pthread_self(), "quire-mount");
  const os::descriptor ready(::epoll_create1(EPOLL_CLOEXEC));
  const int device = fuse_.session_fd(session_);
  epoll_event of_device{}, of_stop{};
  of_device.events = EPOLLIN | EPOLLEXCLUSIVE;
  of_stop.events = EPOLLIN;
  of_stop.data.u32 = 1;
  if (!ready.open() || ::epoll_ctl(ready.number(), EPOLL_CTL_ADD, device, &of_device) != 0 ||
      ::epoll_ctl(ready.number(), EPOLL_CTL_ADD, stop_.number(), &of_stop) != 0) {
    base::log(base::log_level::error, "a thread cannot wait for requests to mounted files: %s", std::strerror(errno));
    return;
  }
  fuse_buf buffer{};
  while (fuse_.session_exited(session_) == 0) {
    epoll_event happened{};
    if (::epoll_wait(ready.number(), &happened, 1, -1) != 1) continue;
    if (happened.data.u32 == 1) break;
    // Until there is nothing: who comes next may be awake for nothing, which costs less than a request that waits.
    int taken = 0;
    while (!stops_.load() && (taken = fuse_.session_receive_buf(session_, &buffer)) > 0)
      fuse_.session_process_buf(session_, &buffer);
    if (stops_.load()) break;  // programs that never stop asking hold nothing up
    if (taken < 0 && taken != -EAGAIN && taken != -EINTR) break;
    std::uint64_t asked = 0;
    if (::read(stop_.number(), &asked, sizeof asked) == sizeof asked) {  // the others have to see it, too
      [[maybe_unused]] const auto told = ::write(stop_.number(), &asked, sizeof asked);
      break;
    }
  }
  std::free(buffer.mem);
}

void session::close() noexcept {
  if (session_ == nullptr) return;
  const std::uint64_t one = 1;
  refresher_.stop();
  stops_.store(true);
  [[maybe_unused]] const auto told = ::write(stop_.number(), &one, sizeof one);
  for (auto& thread : threads_) thread.join();
  threads_.clear();
  locks_.stop();
  g_device.store(-1);
  if (mounted_) {
    const os::signals_held signals;  // fusermount3 may be started
    fuse_.session_unmount(session_);
    mounted_ = false;
  }
  fuse_.session_destroy(session_);
  session_ = nullptr;
  names_.clear();
  g_pipe.store(-1);
  if (watcher_.open()) [[maybe_unused]]
    const auto well = ::write(watcher_.number(), "\n", 1);
  watcher_.reset();
}

base::result<std::unique_ptr<mounted>> open(const std::string& directory, bool caches) {
  std::string why;
  const library* const fuse = load(why);
  if (fuse == nullptr) {
    base::log(base::log_level::error, "nothing can be mounted at %s: %s", directory.c_str(), why.c_str());
    return QUIRE_UNSUPPORTED;
  }
  auto made = std::make_unique<session>(*fuse, caches);
  if (const auto s = made->mount(directory); !s.ok()) return s;
  return std::unique_ptr<mounted>(std::move(made));
}

}  // namespace quire::mount
#endif
