// SPDX-License-Identifier: BSD-3-Clause
// What page pools this machine can have, and which detectors go with each, for `quire info`: each is made and tried.
#include <fmt/core.h>

#include "detect/userfault/trial.hpp"
#include "facts.hpp"
#include "os/memory.hpp"
#include "os/own_thread.hpp"
#include "os/process.hpp"
#include "os/segments.hpp"
#include "os/userfault.hpp"
#include "pool/pool.hpp"
#include "split/begin.hpp"

namespace quire::tools {
namespace {

using json = nlohmann::ordered_json;

/// A small pool of the kind, or null if the system refuses it.
std::unique_ptr<pool::pool> try_pool(const pool::settings& how, std::uint64_t bytes) {
  int error = 0;
  void* const at = os::reserve(bytes, nullptr, error);
  if (at == nullptr) return nullptr;
  auto made = pool::make(how, reinterpret_cast<std::uint64_t>(at), bytes, true);
  if (made.ok()) return std::move(made.value());
  os::unmap(at, bytes);
  return nullptr;
}

fact try_kind(const pool::settings& how, const os::descriptor& userfault, bool thread_allowed) {
  constexpr std::uint64_t bytes = 16 * os::page_bytes;
  const std::string name = pool::name_of(how.which);
  const auto made = try_pool(how, bytes);
  if (made == nullptr) return {name, "refused by this system", name, json::array()};
  json detectors = json::array();
  std::string note;
  if (userfault.open() && os::userfault_register(userfault.number(), made->application_view(), bytes) == 0) {
    detectors = {"userfault"};
    if (thread_allowed) detectors.push_back("thread");
  } else if (userfault.open()) {
    note = " (userfaultfd refuses its pages)";
  }
  const bool protects = os::protect(made->application_view(), bytes, 0) == 0;
  if (protects) detectors.push_back("segv");
  std::string text;
  for (const auto& d : detectors) text += (text.empty() ? "" : ", ") + d.get<std::string>();
  return {name, (text.empty() ? "no detector" : text) + note, name, detectors};
}

/// Splits this process for a moment: the other one tries the detectors on this one's pages, and reports a bit for each.
fact try_fork() {
  constexpr std::uint64_t bytes = 16 * os::page_bytes;
  os::thread_reserve threads;  // else the split would end this process
  const bool has_threads = threads.take();
  threads.release();
  int error = 0;
  void* const at = os::reserve(bytes, nullptr, error);
  os::unmap(at, bytes);
  auto sides = at != nullptr && has_threads ? split::begin(reinterpret_cast<std::uint64_t>(at), bytes, split::way::ring)
                                            : QUIRE_NO_ADDRESSES;
  if (!sides.ok()) return {"fork", "refused by this system", "fork", json::array()};
  constexpr const char* words[] = {"userfault", "thread", "segv"};
  if (auto* const engine = sides.value().engine.get(); engine != nullptr) {
    int works = 0;
    for (const auto mode : {os::userfault_mode::inline_sigbus, os::userfault_mode::thread}) {
      const os::descriptor fd(detect::try_userfault(mode).all() ? engine->open_userfault(mode) : -1);
      if (!fd.open() || os::userfault_register(fd.number(), at, bytes) != 0) continue;
      works |= 1 << static_cast<int>(mode);
      (void)!os::userfault_unregister(fd.number(), at, bytes);
    }
    if (engine->protect(at, bytes, 0) == 0) works |= 4;
    engine->report(works, 0, 1, 0, false);
    engine->serve([] {});
  }
  const int works = sides.value().application->wait_for_start();
  json detectors = json::array();
  std::string text;
  for (int i = 0; i < 3; ++i) {
    if ((works >> i & 1) == 0) continue;
    detectors.push_back(words[i]);
    text += (text.empty() ? "" : ", ") + std::string(words[i]);
  }
  return {"fork", text.empty() ? "no detector" : text, "fork", detectors};
}

}  // namespace

fact_group pool_facts(const base::option_values& options) {
  const bool works = detect::try_userfault(os::userfault_mode::inline_sigbus).all();
  const os::descriptor userfault(works ? os::userfault_open(os::userfault_mode::inline_sigbus) : -1);
  const bool thread_allowed = detect::try_userfault(os::userfault_mode::thread).all();
  fact_group group{"Page pools, and the detectors that go with them", "pools", {}};
  pool::settings how;
  how.directory = options.text(base::option::pool_dir);
  for (const auto which :
       {pool::kind::memfd, pool::kind::file, pool::kind::posix, pool::kind::sysv, pool::kind::mdup}) {
    how.which = which;
    group.facts.push_back(try_kind(how, userfault, thread_allowed));
  }
  group.facts.push_back(try_fork());
  const auto limits = os::read_segment_limits();
  group.facts.push_back(
      {"System V limits",
       fmt::format("{} segments of {}", limits.count,
                   limits.bytes >> 50 != 0 ? "any size" : bytes_text(static_cast<double>(limits.bytes))),
       "sysv_limits", json{{"segments", limits.count}, {"bytes", limits.bytes}}});
  const std::string directory = os::temporary_directory(how.directory);
  group.facts.push_back(
      {"directory of 'file'",
       fmt::format("{}, {} free", directory, bytes_text(static_cast<double>(os::free_bytes(directory.c_str())))),
       "directory", directory});
  return group;
}

}  // namespace quire::tools
