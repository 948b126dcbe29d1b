// SPDX-License-Identifier: BSD-3-Clause
// Threads that are in linkers, so that nobody else is: a function of a linker may hang, and then its thread is left
// alone. Who wants something done waits for it, but no longer than QUIRE_IO_TIMEOUT says. What the function reads and
// writes belongs to the call, which is kept until both have left it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace quire::container {

/// How long a function of a linker is waited for; 0: for ever. Of all calls that begin from now on. Any thread.
void set_call_limit(std::uint64_t ns) noexcept;
[[nodiscard]] std::uint64_t call_limit_ns() noexcept;

/// Something to be done by another thread. On the fault heap, made by `new`.
class caller_task {
 public:
  virtual ~caller_task() = default;
  caller_task(const caller_task&) = delete;
  caller_task& operator=(const caller_task&) = delete;
  static void* operator new(std::size_t bytes) noexcept;
  static void operator delete(void* at, std::size_t bytes) noexcept;

 protected:
  caller_task() = default;
  /// A caller's thread.
  virtual void perform() noexcept = 0;
  /// Who waits is about to go on without it,
  virtual void begin_late() noexcept = 0;
  /// and then it has been done in that very moment.
  virtual void stop_late() noexcept = 0;
  /// Afterwards, if nobody waits any more: a caller's thread.
  virtual void end_late() noexcept = 0;

 private:
  friend class callers;
  enum state : std::uint32_t { waiting, running, done, left };
  std::atomic<std::uint32_t> state_{waiting};
  caller_task* next_ = nullptr;
};

/// The threads of this process, as many as there are calls at a time. One is always idle, so that who is in fault
/// context need not start any.
class callers {
 public:
  /// They stay as long as somebody has this. Null: the system gives no thread. Application thread.
  [[nodiscard]] static std::shared_ptr<callers> of_process();
  ~callers();
  callers(const callers&) = delete;
  callers& operator=(const callers&) = delete;

  /// Has it done, and waits. True: it is done, and still the calling thread's. False: the time is up; it belongs to the
  /// thread that is at it. Any thread but theirs, fault context too.
  [[nodiscard]] bool perform(caller_task& task, std::uint64_t limit_ns) noexcept;

 private:
  /// Outlasts the object, where a thread hangs.
  struct shared {
    std::mutex mutex{};
    std::condition_variable wakes{};
    caller_task* first = nullptr;
    caller_task* last = nullptr;
    unsigned idle = 0;
    bool stopping = false;
  };
  callers() = default;
  [[nodiscard]] static bool start(const std::shared_ptr<shared>& all) noexcept;
  static void work(shared& all, const std::shared_ptr<shared>& kept) noexcept;

  const std::shared_ptr<shared> all_ = std::make_shared<shared>();
};

}  // namespace quire::container
