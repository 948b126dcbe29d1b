// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/store.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "checkpoint/container_copy.hpp"
#include "os/durable_file.hpp"

namespace quire::checkpoint {
namespace {

constexpr std::string_view prefix = "gen-", unfinished = ".tmp", leaving = ".old";

/// The number in "gen-00000007" and what follows it.
bool parse_name(std::string_view name, std::uint64_t& number, std::string_view& rest) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{}) return false;
  rest = name.substr(static_cast<std::size_t>(end - name.data()));
  return true;
}

std::uint64_t random_number() noexcept {
  std::uint64_t number = 0;
  (void)!::getrandom(&number, sizeof number, 0);
  return number;
}

}  // namespace

std::string generation_path(const std::string& path, std::uint64_t number) {
  char name[32];
  std::snprintf(name, sizeof name, "gen-%08lu", static_cast<unsigned long>(number));
  return path + "/" + name;
}
std::string unfinished_path(const std::string& path, std::uint64_t number) {
  return generation_path(path, number) + std::string(unfinished);
}

outcome list_generations(const std::string& path, std::vector<std::uint64_t>& numbers) {
  std::vector<std::string> names;
  if (const int error = os::list_directory(path, names); error != 0) {
    return error == ENOENT ? outcome{} : refused("read the directory", path, error);
  }
  for (const std::string& name : names) {
    std::uint64_t number = 0;
    std::string_view rest;
    if (parse_name(name, number, rest) && rest.empty()) numbers.push_back(number);
  }
  std::sort(numbers.rbegin(), numbers.rend());
  return {};
}

// ---- Writing

attempt::~attempt() {
  if (begun_) (void)!os::remove_directory(unfinished_path(path_, what_.generation));
}

outcome attempt::begin(const std::string& path) {
  path_ = path;
  int error = os::make_directory(path);
  if (error == 0) {
    // The name of the new directory must be on the disk as well.
    const std::size_t slash = path.rfind('/');
    error = os::sync_directory(slash == 0 || slash == path.npos ? "/" : path.substr(0, slash));
  }
  if (error != 0 && error != EEXIST) return refused("make the directory", path, error);
  error = os::lock_directory(path, lock_);
  if (error == EWOULDBLOCK)
    return {QUIRE_BUSY, path + ": another job is writing a checkpoint there; give each job a directory of its own"};
  if (error != 0) return refused("open the directory", path, error);
  std::vector<std::string> names;
  if (error = os::list_directory(path, names); error != 0) return refused("read the directory", path, error);
  std::uint64_t newest = 0;
  for (const std::string& name : names) {
    std::uint64_t number = 0;
    std::string_view rest;
    if (!parse_name(name, number, rest)) continue;
    newest = std::max(newest, number);
    if (rest != unfinished && rest != leaving) continue;
    const std::string left = path + "/" + name;
    if (error = os::remove_directory(left); error != 0) return refused("remove", left, error);
  }
  what_ = {newest + 1, random_number()};
  const std::string made = unfinished_path(path, what_.generation);
  if (error = os::make_directory(made); error != 0) return refused("make the directory", made, error);
  begun_ = true;
  return {};
}

outcome attempt::commit(const manifest& m) {
  const std::string made = unfinished_path(path_, what_.generation),
                    final_name = generation_path(path_, what_.generation);
  if (outcome why = write_manifest(made, m); !why.ok()) return why;
  if (const int error = os::sync_directory(made); error != 0) return refused("write the directory", made, error);
  if (const int error = os::rename_path(made, final_name); error != 0) return refused("rename", made, error);
  begun_ = false;
  if (const int error = os::sync_directory(path_); error != 0) return refused("write the directory", path_, error);
  return {};
}

outcome attempt::prune(unsigned keep) {
  std::vector<std::uint64_t> numbers;
  if (outcome why = list_generations(path_, numbers); !why.ok()) return why;
  outcome worst;
  for (std::size_t i = keep; i < numbers.size(); ++i) {
    // By a name that nobody takes for a checkpoint: half removed it would be a damaged one.
    const std::string old = generation_path(path_, numbers[i]), gone = old + std::string(leaving);
    int error = os::rename_path(old, gone);
    if (error == 0) error = os::remove_directory(gone);
    if (error != 0) worst = refused("remove", old, error);
  }
  return worst;
}

// ---- Reading

outcome opened::open(const std::string& directory) {
  directory_ = directory;
  if (outcome why = read_manifest(directory, about_); !why.ok()) return why;
  files_.resize(about_.files.size());
  for (std::size_t node = 0; node < files_.size(); ++node) {
    if (outcome why = files_[node].open(directory, about_, node); !why.ok()) return why;
  }
  for (const container_row& c : about_.containers) {
    if (outcome why = check_copy_size(directory, c); !why.ok()) return why;
  }
  return check_overlaps();
}

/// Each byte has one node that keeps it.
outcome opened::check_overlaps() const {
  std::vector<extent> all;
  for (const node_reader& f : files_) all.insert(all.end(), f.extents().begin(), f.extents().end());
  std::sort(all.begin(), all.end(), [](const extent& a, const extent& b) {
    return a.region != b.region ? a.region < b.region : a.first < b.first;
  });
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].region == all[i - 1].region && all[i].first < all[i - 1].end()) {
      return damaged(directory_, "byte " + std::to_string(all[i].first) + " of region " +
                                     std::to_string(all[i].region) + " is there twice");
    }
  }
  return {};
}

outcome verify(const opened& whole) {
  for (const container_row& c : whole.about().containers) {
    if (outcome why = check_copy(whole.directory(), c); !why.ok()) return why;
  }
  constexpr std::size_t step = 4u << 20;
  std::vector<std::byte> buffer(step);
  for (const node_reader& file : whole.files()) {
    for (std::size_t i = 0; i < file.extents().size(); ++i) {
      const extent& e = file.extents()[i];
      for (std::uint64_t at = e.first, next = at; at < e.end(); at = next) {
        next = std::min((at / step + 1) * step, e.end());
        if (outcome why = file.read(i, at - e.first, std::span(buffer).first(next - at)); !why.ok()) return why;
      }
    }
  }
  return {};
}

}  // namespace quire::checkpoint
