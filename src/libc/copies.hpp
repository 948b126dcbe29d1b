// SPDX-License-Identifier: BSD-3-Clause
// How an interposed call is made: a row names each argument that lies in memory and says whether the kernel reads it
// (in), fills it as its result tells (out), or changes it (both). While all of it is private, the call passes straight
// through. What is shared is exchanged for private copies around the call. Exactly one system call is made with the
// whole lengths, so that all that is known of short counts and datagrams stays true. Touching the pages in advance
// would not do: another node may take them away before the kernel comes. Where pages are closed, those of the copy are,
// too: the kernel finds EFAULT, or ends early, as on one machine.
//
// Application threads, signal handlers. Calls are points of cancellation: nothing here is noexcept that makes one.
#pragma once

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "runtime/range.hpp"
#include "libc/table.hpp"
#include "libc/thread_buffer.hpp"
#include "runtime/in_body.hpp"
#include "os/memory.hpp"

namespace quire::api::calls {

inline constexpr std::size_t most_bytes = 0x7ffff000;  // what one system call moves at most

/// Private memory for the copies of one call: on the stack, of the thread, or pages.
class copies {
 public:
  explicit copies(std::size_t bytes) noexcept : bytes_(bytes) {
    if (bytes == 0 || (bytes <= sizeof small_ && !is_shared(small_))) {  // nothing with closed pages
      start_ = at_ = small_;
      return;
    }
    start_ = at_ = take_of_buffer(bytes);
    if (start_ != nullptr) return;
    int error = 0;
    maps_ = true;
    start_ = at_ = static_cast<char*>(os::map_table(bytes, error));
    if (start_ == nullptr) errno = error;
  }
  ~copies() {
    if (start_ == nullptr || start_ == small_) return;
    if (maps_) {
      os::unmap(start_, bytes_);
    } else {
      if (closes_) open_all();
      give_to_buffer(start_);
    }
  }
  copies(const copies&) = delete;
  copies& operator=(const copies&) = delete;
  [[nodiscard]] bool ok() const noexcept { return start_ != nullptr; }

  /// What `bytes` take here at most. O_DIRECT wants blocks aligned.
  [[nodiscard]] static std::size_t room(std::size_t bytes) noexcept {
    return bytes == 0 ? 0 : bytes + alignment(bytes);
  }
  [[nodiscard]] char* next(std::size_t bytes) noexcept {
    const std::size_t a = alignment(bytes);
    char* const found = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(at_) + a - 1) / a * a);
    at_ = found + bytes;
    return found;
  }
  /// The same of memory with closed pages: those of the copy are closed, too.
  [[nodiscard]] static std::size_t room_like(std::size_t bytes) noexcept {
    return bytes == 0 ? 0 : bytes + 3 * os::page_bytes;
  }
  [[nodiscard]] char* next_like(const void* of, std::size_t bytes) noexcept {
    constexpr std::uintptr_t page = os::page_bytes;
    const auto first = (reinterpret_cast<std::uintptr_t>(at_) + page - 1) / page * page;
    auto* const found = reinterpret_cast<char*>(first + reinterpret_cast<std::uintptr_t>(of) % page);
    at_ = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(found) + bytes + page - 1) / page * page);
    const auto* const from = static_cast<const char*>(of);
    for (std::size_t done = 0; done < bytes;) {
      done += before_closed(from + done, bytes - done);
      const std::size_t closed = closed_here(from + done, bytes - done);
      const auto begin = reinterpret_cast<std::uintptr_t>(found + done) / page * page;
      const auto end = (reinterpret_cast<std::uintptr_t>(found + done) + closed + page - 1) / page * page;
      closes_ = closes_ || closed != 0;
      if (closed != 0) (void)!os::protect(reinterpret_cast<void*>(begin), end - begin, PROT_NONE);
      done += closed;
    }
    return found;
  }

 private:
  static std::size_t alignment(std::size_t bytes) noexcept { return bytes >= 4096 ? 4096 : bytes >= 512 ? 512 : 16; }
  /// All whole pages: closed ones have room before them, and behind.
  void open_all() noexcept {
    constexpr std::uintptr_t page = os::page_bytes;
    const auto start = reinterpret_cast<std::uintptr_t>(start_);
    const auto first = (start + page - 1) / page * page, end = (start + bytes_) / page * page;
    if (first < end) (void)!os::protect(reinterpret_cast<void*>(first), end - first, PROT_READ | PROT_WRITE);
  }

  alignas(16) char small_[2048];
  char* start_ = nullptr;
  char* at_ = nullptr;
  std::size_t bytes_;
  bool maps_ = false, closes_ = false;
};

/// Arguments in memory are of classes with these five: away(), room(), take(), use(), give_back().
struct argument {};

enum class way { in, out, both };
inline constexpr std::size_t longest_structure = 512;  // of those that programs give whole

/// A run of bytes. Out: `scale` bytes for each one that the call returns. Both: what the kernel has changed goes back,
/// and nothing beside it, as the structure may be shorter than it is taken for.
template <way direction, class T>
class bytes : public argument {
 public:
  bytes(T* at, std::size_t length, std::size_t scale = 1) noexcept : at_(at), length_(length), scale_(scale) {}
  [[nodiscard]] bool away() const noexcept { return is_away(at_); }
  [[nodiscard]] T* given() const noexcept { return at_; }
  [[nodiscard]] std::size_t room() noexcept {
    length_ = taken_ = std::min(length_, most_bytes);
    // What the program says may be more than there is, where less comes back.
    if (direction == way::both && length_ > longest_structure && away()) taken_ = within_region(at_, length_);
    if (!away()) return 0;
    closed_ = any_closed(at_, length_);
    return (closed_ ? copies::room_like(length_) : copies::room(length_)) +
           (direction == way::both ? copies::room(length_) : 0);
  }
  void take(copies& to) noexcept {
    if (!away() || length_ == 0) return;
    copy_ = closed_ ? to.next_like(at_, length_) : to.next(length_);
    if constexpr (direction != way::out) {
      for_each_open(at_, taken_, [this](std::size_t i, std::size_t n) { std::memcpy(copy_ + i, place() + i, n); });
    }
    if constexpr (direction == way::both) {
      before_ = to.next(length_);
      for_each_open(at_, taken_, [this](std::size_t i, std::size_t n) { std::memcpy(before_ + i, copy_ + i, n); });
    }
  }
  [[nodiscard]] T* use() const noexcept { return copy_ != nullptr ? reinterpret_cast<T*>(copy_) : at_; }
  void give_back(long result) noexcept {
    if (copy_ == nullptr) return;
    if constexpr (direction == way::out) {
      if (result > 0) {
        const std::size_t n = std::min(static_cast<std::size_t>(result) * scale_, length_);
        std::memcpy(place(), copy_, before_closed(at_, n));
      }
    } else if constexpr (direction == way::both) {
      for_each_open(at_, taken_, [this](std::size_t first, std::size_t n) {
        for (std::size_t i = first; i < first + n; ++i) {
          if (copy_[i] != before_[i]) place()[i] = copy_[i];
        }
      });
    }
  }

 protected:
  [[nodiscard]] char* place() const noexcept {
    return reinterpret_cast<char*>(const_cast<std::remove_const_t<T>*>(at_));
  }
  T* at_;
  std::size_t length_, scale_, taken_ = 0;
  char *copy_ = nullptr, *before_ = nullptr;
  bool closed_ = false;  ///< some of it
};

/// A structure of unknown length: no region may end within what is taken for it.
class structure : public bytes<way::both, char> {
 public:
  structure(void* at, std::size_t longest) noexcept : bytes(static_cast<char*>(at), longest) {}
  [[nodiscard]] std::size_t room() noexcept {
    const std::size_t all = bytes::room();
    if (away()) taken_ = within_region(at_, length_);
    return all;
  }
};

template <class T>
bytes<way::in, T> in(T* at, std::size_t length = sizeof(T)) noexcept {
  return {at, length};
}
template <class T>
bytes<way::out, T> out(T* at, std::size_t length, std::size_t scale = 1) noexcept {
  return {at, length, scale};
}
template <class T>
bytes<way::both, T> both(T* at, std::size_t length = sizeof(T)) noexcept {
  return {at, length};
}

/// False: a closed page comes before it. Then the kernel is given the address itself, and finds EFAULT.
[[nodiscard]] inline bool has_end(const char* text, std::size_t most, std::size_t& length) noexcept {
  const std::size_t open = before_closed(text, most);
  length = ::strnlen(text, open);
  return length < open || open == most;
}

/// A name or path: what is longer than a path may be is too long for the kernel as well.
class text : public argument {
 public:
  explicit text(const char* at, std::size_t most = PATH_MAX) noexcept : at_(at), most_(most) {}
  [[nodiscard]] bool away() const noexcept { return is_away(at_); }
  [[nodiscard]] const char* given() const noexcept { return at_; }
  [[nodiscard]] std::size_t room() noexcept {
    if (!away() || !has_end(at_, most_, length_)) return 0;
    return copies::room(length_ + 1);
  }
  void take(copies& to) noexcept {
    if (!away() || !has_end(at_, most_, length_)) return;
    copy_ = to.next(length_ + 1);
    std::memcpy(copy_, at_, length_);
    copy_[length_] = 0;
  }
  [[nodiscard]] const char* use() const noexcept { return copy_ != nullptr ? copy_ : at_; }
  void give_back(long) noexcept {}

 private:
  const char* at_;
  std::size_t most_, length_ = 0;
  char* copy_ = nullptr;
};

/// Words for a new program: argv, envp.
class texts : public argument {
 public:
  explicit texts(char* const* list) noexcept : list_(list) {}
  [[nodiscard]] bool away() const noexcept {
    if (is_away(list_)) return before_closed(list_, sizeof *list_) != 0;
    for (char* const* one = list_; one != nullptr && *one != nullptr; ++one) {
      if (is_away(*one)) return true;
    }
    return false;
  }
  [[nodiscard]] char* const* given() const noexcept { return list_; }
  [[nodiscard]] std::size_t room() noexcept {
    if (!away()) return 0;
    std::size_t sum = 0;
    for (count_ = 0; list_[count_] != nullptr; ++count_) {
      if (is_away(list_[count_])) sum += copies::room(std::strlen(list_[count_]) + 1);
    }
    return sum + copies::room((count_ + 1) * sizeof *list_);
  }
  void take(copies& to) noexcept {
    if (!away()) return;
    copy_ = reinterpret_cast<char**>(to.next((count_ + 1) * sizeof *list_));
    for (std::size_t i = 0; i < count_; ++i) {
      copy_[i] = list_[i];
      std::size_t length = 0;
      if (!is_away(list_[i]) || !has_end(list_[i], most_word, length)) continue;
      copy_[i] = to.next(length + 1);
      std::memcpy(copy_[i], list_[i], length);
      copy_[i][length] = 0;
    }
    copy_[count_] = nullptr;
  }
  [[nodiscard]] char* const* use() const noexcept { return copy_ != nullptr ? copy_ : list_; }
  void give_back(long) noexcept {}

 private:
  static constexpr std::size_t most_word = 1 << 20;  ///< the kernel takes 128 KiB
  char* const* list_;
  std::size_t count_ = 0;
  char** copy_ = nullptr;
};

/// A vector of buffers, which may itself be shared. Buffers that are private stay where they are.
template <way direction>
class parts : public argument {
 public:
  parts(const iovec* list, std::size_t count) noexcept : list_(list), count_(count) {}
  [[nodiscard]] bool away() const noexcept {
    if (list_ == nullptr || count_ == 0 || count_ > IOV_MAX) return false;  // the kernel says what is wrong
    if (any_closed(list_, count_ * sizeof *list_)) return false;            // and here
    if (is_away(list_)) return true;
    for (std::size_t i = 0; i < count_; ++i) {
      if (is_away(list_[i].iov_base)) return true;
    }
    return false;
  }
  [[nodiscard]] const iovec* given() const noexcept { return list_; }
  [[nodiscard]] std::size_t room() noexcept {
    if (!away()) return 0;
    for (std::size_t i = 0; i < count_ && !closed_; ++i)
      closed_ = is_away(list_[i].iov_base) && any_closed(list_[i].iov_base, list_[i].iov_len);
    std::size_t sum = copies::room(count_ * sizeof *list_), left = most_bytes;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t length = std::min(list_[i].iov_len, left);
      if (is_away(list_[i].iov_base)) sum += closed_ ? copies::room_like(length) : copies::room(length);
      left -= length;
    }
    return sum;
  }
  void take(copies& to) noexcept {
    if (!away()) return;
    copy_ = reinterpret_cast<iovec*>(to.next(count_ * sizeof *list_));
    std::size_t left = most_bytes;
    for (std::size_t i = 0; i < count_; ++i) {
      copy_[i] = list_[i];
      const std::size_t length = std::min(list_[i].iov_len, left);
      left -= length;
      if (length == 0 || !is_away(list_[i].iov_base)) continue;
      auto* const from = static_cast<const char*>(list_[i].iov_base);
      auto* const copy = closed_ ? to.next_like(from, length) : to.next(length);
      copy_[i].iov_base = copy;
      if constexpr (direction == way::in)
        for_each_open(from, length, [=](std::size_t k, std::size_t n) { std::memcpy(copy + k, from + k, n); });
    }
  }
  [[nodiscard]] const iovec* use() const noexcept { return copy_ != nullptr ? copy_ : list_; }
  void give_back(long result) noexcept {
    if (copy_ == nullptr || direction == way::in) return;
    // A receive with MSG_TRUNC may tell more than it brought.
    std::size_t left = result > 0 ? std::min(static_cast<std::size_t>(result), most_bytes) : 0;
    for (std::size_t i = 0; i < count_ && left != 0; ++i) {
      const std::size_t length = std::min(copy_[i].iov_len, left);
      left -= length;
      if (copy_[i].iov_base != list_[i].iov_base)
        std::memcpy(list_[i].iov_base, copy_[i].iov_base, before_closed(list_[i].iov_base, length));
    }
  }

 private:
  const iovec* list_;
  std::size_t count_;
  iovec* copy_ = nullptr;
  bool closed_ = false;  ///< some of the buffers
};

/// A message: its header, its name, its ancillary data and its parts.
template <way direction>
class message : public argument {
 public:
  using header = std::conditional_t<direction == way::in, const msghdr, msghdr>;
  explicit message(header* at) noexcept : message(at, any_closed(at, sizeof *at) ? msghdr{} : *at) {}
  [[nodiscard]] bool away() const noexcept {
    if (any_closed(at_, sizeof *at_)) return false;  // the kernel says what is wrong
    return is_away(at_) || parts_.away() || name_.away() || control_.away();
  }
  [[nodiscard]] header* given() const noexcept { return at_; }
  [[nodiscard]] std::size_t room() noexcept { return parts_.room() + name_.room() + control_.room(); }
  void take(copies& to) noexcept {
    parts_.take(to);
    name_.take(to);
    control_.take(to);
    copy_ = *at_;
    copy_.msg_iov = const_cast<iovec*>(parts_.use());
    copy_.msg_name = name_.use();
    copy_.msg_control = control_.use();
  }
  [[nodiscard]] header* use() noexcept { return &copy_; }
  void give_back(long result) noexcept {
    if constexpr (direction == way::out) {
      parts_.give_back(result);
      name_.give_back(result);
      control_.give_back(result);
      at_->msg_namelen = copy_.msg_namelen;
      at_->msg_controllen = copy_.msg_controllen;
      at_->msg_flags = copy_.msg_flags;
    }
  }

 private:
  message(header* at, const msghdr& first) noexcept
      : at_(at),
        parts_(first.msg_iov, first.msg_iovlen),
        name_(static_cast<char*>(first.msg_name), first.msg_namelen),
        control_(static_cast<char*>(first.msg_control), first.msg_controllen) {}
  static constexpr way around = direction == way::in ? way::in : way::both;
  header* at_;
  parts<direction> parts_;
  bytes<around, char> name_, control_;
  msghdr copy_{};
};

/// What is no argument in memory passes as it is.
template <class A>
[[nodiscard]] inline bool away(const A& a) noexcept {
  if constexpr (std::is_base_of_v<argument, A>) return a.away();
  return false;
}
template <class A>
[[nodiscard]] inline auto given(const A& a) noexcept {
  if constexpr (std::is_base_of_v<argument, A>)
    return a.given();
  else
    return a;
}
template <class A>
[[nodiscard]] inline std::size_t room(A& a) noexcept {
  if constexpr (std::is_base_of_v<argument, A>) return a.room();
  return 0;
}
template <class A>
inline void take(A& a, copies& to) noexcept {
  if constexpr (std::is_base_of_v<argument, A>) a.take(to);
}
template <class A>
[[nodiscard]] inline auto use(A& a) noexcept {
  if constexpr (std::is_base_of_v<argument, A>)
    return a.use();
  else
    return a;
}
template <class A>
inline void give_back(A& a, long result) noexcept {
  if constexpr (std::is_base_of_v<argument, A>) a.give_back(result);
}

template <class R>
[[nodiscard]] R failed() noexcept {
  if constexpr (std::is_pointer_v<R>)
    return nullptr;
  else
    return static_cast<R>(-1);
}

template <class R, class Real, class... A>
[[gnu::noinline]] R make_with_copies(Real* real, A&... a) {
  copies memory((room(a) + ... + 0));
  if (!memory.ok()) return failed<R>();
  (take(a, memory), ...);
  const R result = real(use(a)...);
  const int error = errno;
  if constexpr (std::is_integral_v<R>) {
    (give_back(a, static_cast<long>(result)), ...);
  } else {
    (give_back(a, result != R{} ? 0 : -1), ...);
  }
  errno = error;
  return result;
}

/// Makes the call that a row stands in front of.
template <class R, class... A>
inline R make(row& of, A... a) {
  auto* const real = real_of<R(decltype(given(a))...)>(of);
  if (real == nullptr) [[unlikely]]
    return failed<R>();
  if (transactions::is_inside()) [[unlikely]]
    transactions::make_irrevocable();  // the call cannot be undone
  if ((away(a) || ...)) [[unlikely]]
    return make_with_copies<R>(real, a...);
  return real(given(a)...);
}

}  // namespace quire::api::calls

/// A row: the function as libc declares it, and its arguments in turn.
#define QUIRE_CALL(result, name, parameters, ...) \
  QUIRE_OWN(result, name, parameters) { return ::quire::api::calls::make<result>(row_##name, __VA_ARGS__); }
