// SPDX-License-Identifier: BSD-3-Clause
// The numbers by which the kernel knows files of a mount, and what is open of each. A file keeps its number, whatever
// name it gets, here or on another node; a name that another file has by now leads to another number. Number, time and
// mode of a file stay when the kernel forgets it, which it does as it likes: those of the last `most_forgotten` files.
// Used by session.cpp, in threads of the mount. name_table.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mount/files.hpp"

namespace quire::mount {

/// An open file; fuse_file_info::fh points to it, and name_table owns it. Closed with the last request that uses it.
struct opened {
  opened(files& of, files::handle number) : shown(of), handle(number) {}
  ~opened() { shown.close(handle); }
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  files& shown;
  const files::handle handle;
  bool refreshed = false;  ///< the kernel caches what others write: see refresher
  std::atomic<bool> wrote{false};
};

class name_table {
 public:
  using number = std::uint64_t;  ///< fuse_ino_t
  static constexpr unsigned usual_mode = 0644;
  struct known {
    std::string name{};          ///< when the kernel last asked for it
    file_facts facts{};          ///< when somebody last looked
    timespec changed{};          ///< through this mount, or when somebody saw another length
    unsigned mode = usual_mode;  ///< permissions, as a program has set them through this mount
  };

  static constexpr std::size_t most_forgotten = 8192;  ///< more than there can be containers

  /// `first`: the smallest number.
  explicit name_table(number first) noexcept : next_(first) {}

  /// One that the kernel knows from the beginning, and for ever.
  void know(number file, unsigned mode);
  /// The kernel learns it once more. `mode`: of a file that is new.
  [[nodiscard]] number look_up(const std::string& name, const file_facts& facts, unsigned mode = usual_mode);
  /// So many times less; a number that the kernel does not know is found no more.
  void forget(number file, std::uint64_t look_ups);
  /// False if the number is unknown.
  [[nodiscard]] bool find(number file, known& into) const;
  /// Somebody has looked.
  void saw(number file, const file_facts& facts);
  void set_mode(number file, unsigned mode);
  void changed(number file, const timespec& when);
  /// Written, or cut, through this mount.
  void changed_now(number file);

  void add(number file, std::shared_ptr<opened> one);
  /// The kernel uses it no more.
  void remove(number file, const opened* one);
  /// `one`, to keep it open; null if it is not open any more.
  [[nodiscard]] std::shared_ptr<opened> find_open(number file, const opened* one) const;
  /// One that is open, of those with that number; null if none is.
  [[nodiscard]] std::shared_ptr<opened> any_open(number file) const;
  /// Closes all that is open.
  void clear();

 private:
  struct entry {
    known about{};
    std::uint64_t look_ups = 0;  ///< until the kernel forgets it
    bool own_change = false;     ///< nobody has looked since; another length is no news
    std::vector<std::shared_ptr<opened>> open{};
    std::list<number>::iterator place{};  ///< in forgotten_, without look-ups
  };
  [[nodiscard]] const entry* known_to_kernel(number file) const;
  [[nodiscard]] entry* known_to_kernel(number file) {
    return const_cast<entry*>(std::as_const(*this).known_to_kernel(file));
  }
  static void take(entry& e, const file_facts& facts);
  mutable std::mutex mutex_;
  std::unordered_map<number, entry> entries_;
  std::unordered_map<std::uint64_t, number> numbers_;  ///< by identity
  std::list<number> forgotten_;                        ///< the last one in front
  number next_;
};

}  // namespace quire::mount
