// SPDX-License-Identifier: BSD-3-Clause
// One of the two processes that `pair` starts: who am I, a socket to the other one, and memory shared with it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace bench {

inline constexpr const char* node_variable = "BENCH_NODE";
inline constexpr const char* socket_variable = "BENCH_SOCKET";
inline constexpr const char* memory_variable = "BENCH_MEMORY";
inline constexpr std::size_t shared_bytes = 2u << 20;

[[noreturn]] inline void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

class peer {
 public:
  peer() : node_(number_of(node_variable)), socket_(number_of(socket_variable)) {
    void* const at =
        ::mmap(nullptr, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, number_of(memory_variable), 0);
    if (at == MAP_FAILED) fail("shared memory");
    memory_ = at;
  }

  /// 0 serves, 1 measures and prints.
  [[nodiscard]] int node() const noexcept { return node_; }
  [[nodiscard]] bool measures() const noexcept { return node_ == 1; }
  /// Shared by both, zero at the start.
  template <class T>
  [[nodiscard]] T& shared() const noexcept {
    static_assert(sizeof(T) <= shared_bytes);
    return *static_cast<T*>(memory_);
  }

  void send(std::span<const std::byte> bytes) const {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n = ::write(socket_, bytes.data() + done, bytes.size() - done);
      if (n <= 0) fail("peer");
      done += static_cast<std::size_t>(n);
    }
  }
  void receive(std::span<std::byte> bytes) const {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n = ::read(socket_, bytes.data() + done, bytes.size() - done);
      if (n < 0) fail("peer");
      if (n == 0) throw std::runtime_error("the other side has ended");
      done += static_cast<std::size_t>(n);
    }
  }
  template <class T>
  void send_value(const T& value) const {
    send(std::as_bytes(std::span(&value, 1)));
  }
  template <class T>
  [[nodiscard]] T receive_value() const {
    T value{};
    receive(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  /// Gives `mine` to the other side, and what it gave.
  [[nodiscard]] std::vector<std::byte> exchange(std::span<const std::byte> mine) const {
    send_value(mine.size());
    send(mine);
    std::vector<std::byte> theirs(receive_value<std::size_t>());
    receive(theirs);
    return theirs;
  }
  /// Returns when both have called it.
  void meet() const {
    send_value('.');
    (void)receive_value<char>();
  }

 private:
  static int number_of(const char* variable) {
    const char* const text = std::getenv(variable);
    if (text == nullptr) throw std::runtime_error("this is one of two sides: start it as `pair PROGRAM ARGUMENTS`");
    return std::atoi(text);
  }

  int node_, socket_;
  void* memory_ = nullptr;
};

}  // namespace bench
