// SPDX-License-Identifier: BSD-3-Clause
// The FUSE side of a mount: the kernel's requests become calls of `files`. The directory is flat, and nothing is
// remembered of what other nodes can change: names and sizes are asked for anew at each look (time-outs of zero). See
// mount.hpp for what programs see. session.cpp begins and ends it, operations.cpp is what libfuse calls, requests.cpp
// serves.
#pragma once
#ifdef QUIRE_HAVE_FUSE
#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/status.hpp"
#include "mount/files.hpp"
#include "mount/library.hpp"
#include "mount/locks.hpp"
#include "mount/mount.hpp"
#include "mount/name_table.hpp"
#include "mount/refresher.hpp"
#include "os/process.hpp"

namespace quire::mount {

inline constexpr fuse_ino_t root = FUSE_ROOT_ID;
inline constexpr std::uint64_t last_byte = INT64_MAX;  ///< of a lock that goes to the end, wherever that is

class session final : public mounted {
 public:
  session(const library& fuse, bool caches) : fuse_(fuse), caches_(caches) {}
  ~session() override { close(); }
  base::status mount(const std::string& directory);
  void serve(files& shown) override;
  /// What requests are about. Before the first.
  void show(files& shown) noexcept { files_ = &shown; }
  void close() noexcept override;

  // Requests. In threads of the mount.
  void look_up(fuse_req_t request, const char* name);
  void get_attributes(fuse_req_t request, fuse_ino_t number);
  void set_attributes(fuse_req_t request, fuse_ino_t number, const struct stat& wanted, int which,
                      const fuse_file_info* info);
  void open_file(fuse_req_t request, fuse_ino_t number, fuse_file_info* info);
  void create_file(fuse_req_t request, const char* name, mode_t mode, fuse_file_info* info);
  void read_file(fuse_req_t request, std::size_t size, off_t at, const fuse_file_info* info);
  void write_file(fuse_req_t request, fuse_ino_t number, const char* from, std::size_t size, off_t at,
                  const fuse_file_info* info);
  void sync_file(fuse_req_t request, const fuse_file_info* info, bool if_written);
  void close_descriptor(fuse_req_t request, fuse_ino_t number, const fuse_file_info* info);
  void lock_file(fuse_req_t request, fuse_ino_t number, const fuse_file_info* info, const file_lock& wanted,
                 bool waits);
  void test_lock(fuse_req_t request, const fuse_file_info* info, file_lock wanted);
  void release_file(fuse_req_t request, fuse_ino_t number, const fuse_file_info* info);
  void remove_file(fuse_req_t request, const char* name);
  void rename_file(fuse_req_t request, const char* from, const char* to, unsigned how);
  void open_directory(fuse_req_t request, fuse_file_info* info);
  void read_directory(fuse_req_t request, std::size_t size, off_t at, const fuse_file_info* info);
  void tell_space(fuse_req_t request);
  [[nodiscard]] const library& fuse() const noexcept { return fuse_; }
  [[nodiscard]] name_table& names() noexcept { return names_; }

 private:
  void work();
  [[nodiscard]] struct stat attributes_of(fuse_ino_t number, const name_table::known& file) const;
  [[nodiscard]] fuse_entry_param entry_of(const char* name, const file_facts& facts,
                                          unsigned mode = name_table::usual_mode);
  [[nodiscard]] int open_by_number(fuse_ino_t number, bool writes, files::handle& handle, file_facts& facts);
  [[nodiscard]] int look_at(fuse_ino_t number, name_table::known& file);
  void begin_use(fuse_req_t request, fuse_ino_t number, const std::shared_ptr<opened>& file, const file_facts& facts,
                 fuse_file_info* info);
  void end_use(fuse_ino_t number, const opened* file);
  [[nodiscard]] bool needs_no_flush(fuse_req_t request) const;
  [[nodiscard]] int resize(fuse_ino_t number, std::uint64_t bytes, const fuse_file_info* info);

  const library& fuse_;
  const bool caches_;
  fuse_session* session_ = nullptr;
  files* files_ = nullptr;
  bool mounted_ = false;
  std::string where_;
  os::descriptor watcher_, stop_;
  std::atomic<bool> stops_{false};
  std::vector<std::thread> threads_;
  name_table names_{root + 1};
  locks locks_{};
  refresher refresher_{[this](fuse_ino_t number) { (void)fuse_.lowlevel_notify_inval_inode(session_, number, 0, 0); }};
};

/// The table for libfuse, whose requests are those of sessions of `fuse`.
[[nodiscard]] fuse_lowlevel_ops operations(const library& fuse);

}  // namespace quire::mount
#endif
