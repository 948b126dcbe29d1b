// SPDX-License-Identifier: BSD-3-Clause
// Containers in C++ (quire/container.h): a file with a position, the same content as memory, and linkers as classes.
//
//     quire::file log("log", {.what = "/data/log", .flags = quire::file::create});
//     log.append(std::as_bytes(std::span(record)));
//     for (double& x : log.as<double>()) x *= 2;   // the same content, on all nodes
//     log.sync();
//
// Errors are exceptions of type quire::error.
#pragma once

#include <quire/container.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <quire/error.hpp>

namespace quire {

/// As quire_container_options.
struct container_options {
  std::string linker{};  ///< empty: "file" if there is a `what`, else "memory"
  std::string what{};
  unsigned flags = 0;  ///< of file::create and so on
  std::uint64_t bytes = 0, capacity = 0;
  std::size_t unit_bytes = 0;
  int node = -1;  ///< that does the I/O; -1: found out
  quire_consistency consistency = QUIRE_SEQUENTIAL;
  bool atomic = false;
};

/// An opening of a container, with a position, as a file has it: one thread at a time uses that. Calls that name a
/// place may be made by any thread of the node. Closed by the destructor, which has no way to tell of an error: who
/// wants to know of it calls close() or sync() before.
class file {
 public:
  static constexpr unsigned create = QUIRE_CONTAINER_CREATE, exclusive = QUIRE_CONTAINER_EXCLUSIVE,
                            read_only = QUIRE_CONTAINER_READ_ONLY, truncated = QUIRE_CONTAINER_TRUNCATE;

  file() noexcept = default;
  explicit file(const std::string& name, const container_options& how = {}) {
    quire_container_options o{};
    o.size = sizeof o;
    o.linker = how.linker.empty() ? nullptr : how.linker.c_str();
    o.what = how.what.empty() ? nullptr : how.what.c_str();
    o.flags = how.flags;
    o.bytes = how.bytes;
    o.capacity = how.capacity;
    o.unit_bytes = how.unit_bytes;
    o.placement = how.node >= 0 ? QUIRE_PLACE_NODE : QUIRE_PLACE_BLOCK;
    o.home = how.node >= 0 ? how.node : 0;
    o.consistency = how.consistency;
    o.atomic = how.atomic ? 1 : 0;
    detail::check(quire_container_open(name.c_str(), &o, &c_), "quire::file");
  }
  file(file&& from) noexcept : c_(std::exchange(from.c_, {})), position_(std::exchange(from.position_, 0)) {}
  file& operator=(file&& from) noexcept {
    const file old(std::move(*this));
    c_ = std::exchange(from.c_, {});
    position_ = std::exchange(from.position_, 0);
    return *this;
  }
  ~file() {
    if (c_.id != 0) (void)quire_container_close(c_);
  }

  [[nodiscard]] bool is_open() const noexcept { return c_.id != 0; }
  [[nodiscard]] quire_container handle() const noexcept { return c_; }
  /// Ends it, and keeps what was written; throws if some of it was not kept, and it is closed all the same.
  void close() { detail::check(quire_container_close(std::exchange(c_, {})), "quire::file::close"); }

  [[nodiscard]] std::uint64_t size() const {
    std::uint64_t bytes = 0;
    detail::check(quire_container_bytes(c_, &bytes), "quire::file::size");
    return bytes;
  }
  void resize(std::uint64_t bytes) { detail::check(quire_container_truncate(c_, bytes), "quire::file::resize"); }

  // At a place.
  /// How many there were: fewer at the end.
  std::size_t read_at(std::uint64_t at, std::span<std::byte> into) const {
    std::size_t done = 0;
    detail::check(quire_container_read(c_, at, into.data(), into.size(), &done), "quire::file::read_at");
    return done;
  }
  void write_at(std::uint64_t at, std::span<const std::byte> from) {
    detail::check(quire_container_write(c_, at, from.data(), from.size(), nullptr), "quire::file::write_at");
  }
  /// At the end, as a whole; gives the place.
  std::uint64_t append(std::span<const std::byte> from) {
    std::uint64_t at = 0;
    detail::check(quire_container_append(c_, from.data(), from.size(), &at), "quire::file::append");
    return at;
  }

  // At the position.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  void seek(std::uint64_t to) noexcept { position_ = to; }
  std::size_t read(std::span<std::byte> into) {
    const std::size_t done = read_at(position_, into);
    position_ += done;
    return done;
  }
  void write(std::span<const std::byte> from) {
    write_at(position_, from);
    position_ += from.size();
  }

  /// When it returns the linker has kept what all nodes had written when the call began.
  void sync(std::uint64_t at = 0, std::uint64_t bytes = 0) {
    detail::check(quire_container_sync(c_, at, bytes), "quire::file::sync");
  }
  /// What is in memory and was not changed is asked of the linker again.
  void drop(std::uint64_t at = 0, std::uint64_t bytes = 0) {
    detail::check(quire_container_drop(c_, at, bytes), "quire::file::drop");
  }

  /// The content as memory, as long as it is now.
  [[nodiscard]] std::span<std::byte> bytes() const {
    void* address = nullptr;
    detail::check(quire_container_map(c_, &address, nullptr), "quire::file::bytes");
    return {static_cast<std::byte*>(address), size()};
  }
  /// The same, as objects of a type that may lie in a file: whole ones.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::span<T> as() const {
    const auto all = bytes();
    return {reinterpret_cast<T*>(all.data()), all.size() / sizeof(T)};
  }

 private:
  quire_container c_{};
  std::uint64_t position_ = 0;
};

/// Removes a container that nobody has open; `content`: what its linker keeps, too.
inline void remove_container(const std::string& name, bool content = false) {
  detail::check(quire_container_remove(name.c_str(), content ? QUIRE_CONTAINER_REMOVE_CONTENT : 0),
                "quire::remove_container");
}

/// Content that a program has, as a class: what a linker of its own derives from (register_linker()). Functions may
/// throw: a std::system_error of the generic or system category counts as its errno, all else as EIO.
class linked_content {
 public:
  virtual ~linked_content() = default;
  /// UINT64_MAX: as long as the container says.
  [[nodiscard]] virtual std::uint64_t bytes() { return UINT64_MAX; }
  virtual void fill(std::uint64_t at, std::span<std::byte> into) = 0;
  virtual void flush(std::uint64_t /*at*/, std::span<const std::byte> /*from*/) {
    throw std::system_error(EROFS, std::generic_category());
  }
  virtual void sync() {}
  virtual void resize(std::uint64_t /*bytes*/) { throw std::system_error(EOPNOTSUPP, std::generic_category()); }
};

namespace detail {
template <class F>
int as_errno(F&& f) noexcept {
  try {
    f();
    return 0;
  } catch (const std::system_error& e) {
    const auto& category = e.code().category();
    const bool number = category == std::generic_category() || category == std::system_category();
    return number && e.code().value() > 0 ? e.code().value() : EIO;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (...) {
    return EIO;
  }
}
}  // namespace detail

/// Makes a linker of a class with the functions of linked_content (derived from it) and a constructor from (const
/// std::string& what, unsigned flags) known to this node. `can`, `grain`, `threads` as of quire_linker.
template <class Content>
requires std::is_base_of_v<linked_content, Content> && std::is_constructible_v<Content, const std::string&, unsigned>
void register_linker(const std::string& name, unsigned can = 0, std::size_t grain = 0, unsigned threads = 0) {
  quire_linker l{};
  l.size = sizeof l;
  l.name = name.c_str();
  l.can = can;
  l.grain = grain;
  l.threads = threads;
  l.open = [](void*, const char* what, unsigned flags, std::uint64_t* bytes, void** self) {
    return detail::as_errno([&] {
      std::unique_ptr<linked_content> made = std::make_unique<Content>(what, flags);
      *bytes = made->bytes();
      *self = made.release();
    });
  };
  l.fill = [](void* self, std::uint64_t at, void* into, std::size_t bytes) {
    return detail::as_errno([&] {
      static_cast<linked_content*>(self)->fill(at, {static_cast<std::byte*>(into), bytes});
    });
  };
  if ((can & QUIRE_LINK_WRITE) != 0) {
    l.flush = [](void* self, std::uint64_t at, const void* from, std::size_t bytes) {
      return detail::as_errno([&] {
        static_cast<linked_content*>(self)->flush(at, {static_cast<const std::byte*>(from), bytes});
      });
    };
  }
  l.sync = [](void* self) { return detail::as_errno([&] { static_cast<linked_content*>(self)->sync(); }); };
  if ((can & QUIRE_LINK_TRUNCATE) != 0) {
    l.truncate = [](void* self, std::uint64_t bytes) {
      return detail::as_errno([&] { static_cast<linked_content*>(self)->resize(bytes); });
    };
  }
  l.close = [](void* self) { delete static_cast<linked_content*>(self); };
  detail::check(quire_linker_register(&l), "quire::register_linker");
}

}  // namespace quire
