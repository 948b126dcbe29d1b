// SPDX-License-Identifier: BSD-3-Clause
// Code in the shared memory: one node loads a shared library, all nodes run it. <quire/code.h> says what holds of
// modules, and what is refused.
//
//     auto shapes = quire::from_node(0, [] { return quire::code::load("shapes.so"); });
//     quire::code::function<double(double)> area(shapes, "area");     // may lie in shared memory
//     area(2.0);                                                      // on any node
//
// Any thread of any node may call, between the start and the end of the session. Calls throw quire::error, whose what()
// names what is in the way.
#pragma once

#include <quire/code.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <quire/error.hpp>
#include <quire/memory.hpp>

namespace quire::code {

/// A module that was loaded: a handle, trivially copyable, the same on every node.
class module {
 public:
  constexpr module() noexcept = default;
  explicit constexpr module(quire_code native) noexcept : native_(native) {}
  [[nodiscard]] constexpr quire_code native_handle() const noexcept { return native_; }
  [[nodiscard]] explicit constexpr operator bool() const noexcept { return native_.id != 0; }
  friend constexpr bool operator==(const module& a, const module& b) noexcept { return a.native_.id == b.native_.id; }

 private:
  quire_code native_{};
};

/// How a module is loaded; name what differs: `load("shapes.so", {.name = "shapes"})`.
struct options {
  std::string name{};  ///< by which other nodes find it; empty: the file's name without its folder
  quire::consistency consistency = quire::consistency::sequential;  ///< of its variables
  quire::pool pool = quire::pool::standard;
  quire::detector detector = quire::detector::standard;
};

/// Loads a shared library that this node has; all nodes can run it then. See quire_code_load().
[[nodiscard]] inline module load(const std::string& path, const options& how = {}) {
  quire_code_options given{};
  given.size = sizeof given;
  given.name = how.name.empty() ? nullptr : how.name.c_str();
  given.consistency = static_cast<quire_consistency>(how.consistency);
  given.pool = static_cast<quire_pool>(how.pool);
  given.detector = static_cast<quire_detector>(how.detector);
  quire_code made{};
  detail::check(quire_code_load(path.c_str(), &given, &made), "code::load");
  return module(made);
}

/// The module that some node has loaded under a name, as soon as it is there.
[[nodiscard]] inline module find(const std::string& name) {
  quire_code found{};
  detail::check(quire_code_find(name.c_str(), detail::for_ever, &found), "code::find");
  return module(found);
}

/// The same; nothing if there is none within `timeout`. Zero does not wait.
template <class Rep, class Period>
[[nodiscard]] std::optional<module> find_for(const std::string& name, std::chrono::duration<Rep, Period> timeout) {
  quire_code found{};
  const quire_status status = quire_code_find(name.c_str(), detail::timeout_ms(timeout), &found);
  if (status == QUIRE_NOT_FOUND || !detail::in_time(status, "code::find_for")) return std::nullopt;
  return module(found);
}

/// The address of a function or a variable of a module, the same on all nodes: `symbol<double(double)>(shapes,
/// "area")`, `symbol<int>(shapes, "count")`. Nobody checks that the type is the right one.
template <class T>
[[nodiscard]] T* symbol(module in, const std::string& name) {
  void* found = nullptr;
  detail::check(quire_code_symbol(in.native_handle(), name.c_str(), &found), "code::symbol");
  return reinterpret_cast<T*>(found);
}

template <class Signature>
class function;

/// A function of a module that may be replaced while others call it: each call reads, from shared memory, which one it
/// is. A handle, trivially copyable, the same on every node, valid while the module is loaded.
template <class Result, class... Parameters>
class function<Result(Parameters...)> {
 public:
  constexpr function() noexcept = default;
  function(module in, const std::string& name) {
    void** entry = nullptr;
    detail::check(quire_code_entry(in.native_handle(), name.c_str(), &entry), "code::function");
    entry_ = entry;
  }
  Result operator()(Parameters... parameters) const { return now()(std::forward<Parameters>(parameters)...); }
  /// What a call would call.
  [[nodiscard]] auto now() const noexcept -> Result (*)(Parameters...) {
    return reinterpret_cast<Result (*)(Parameters...)>(std::atomic_ref(*entry_).load(std::memory_order_acquire));
  }
  [[nodiscard]] explicit constexpr operator bool() const noexcept { return entry_ != nullptr; }

 private:
  void** entry_ = nullptr;
};

/// From now on code::function objects of `name` in `old_one` call that of `newer`. See quire_code_replace().
inline void replace(module old_one, const std::string& name, module newer) {
  detail::check(quire_code_replace(old_one.native_handle(), name.c_str(), newer.native_handle()), "code::replace");
}

/// Unloads a module, whose code nobody runs any more, on all nodes. See quire_code_unload().
inline void unload(module gone) { detail::check(quire_code_unload(gone.native_handle()), "code::unload"); }

}  // namespace quire::code
