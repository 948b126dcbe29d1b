// SPDX-License-Identifier: BSD-3-Clause
// The FUSE side of a mount: the kernel's requests become calls of `files`. The directory is flat, and nothing is
// remembered of what other nodes can change: names and sizes are asked for anew at each look (time-outs of zero). See
// mount.hpp for what programs see.
#include "mount/mount.hpp"

#include "base/log.hpp"

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
#include <sys/file.h>
#include <sys/stat.h>
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

#include "mount/library.hpp"
#include "mount/locks.hpp"
#include "mount/name_table.hpp"
#include "mount/refresher.hpp"
#include "mount/watcher.hpp"
#include "os/foreign_library.hpp"
#include "os/mounts.hpp"
#include "os/own_thread.hpp"
#include "os/process.hpp"

namespace quire::mount {
namespace {

constexpr unsigned threads = 16;  ///< requests that may wait for their files at a time
constexpr fuse_ino_t root = FUSE_ROOT_ID;
constexpr fuse_ino_t unknown_number = 0xffffffff;  ///< of a name in a list, as libfuse has it
constexpr std::uint32_t block_bytes = 4096;
constexpr unsigned all_permissions = 0777, all_may_write = 0222;
constexpr int most_tries = 100;                 ///< to make a file that others make and remove meanwhile
constexpr std::uint64_t last_byte = INT64_MAX;  ///< of a lock that goes to the end, wherever that is

/// What libfuse says goes into our own sentence. It has no place for a pointer of ours.
thread_local std::string g_said;

/// Descriptors that a forked child must not keep: the kernel would not notice the end of this process.
std::atomic<int> g_device{-1}, g_pipe{-1};
void close_in_child() {
  for (auto* const one : {&g_device, &g_pipe})
    if (const int number = one->exchange(-1); number >= 0) ::close(number);
}

class session final : public mounted {
 public:
  session(const library& fuse, bool caches) : fuse_(fuse), caches_(caches) {}
  ~session() override { close(); }
  base::status mount(const std::string& directory);
  void serve(files& shown) override;
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

opened& file_of(const fuse_file_info* info) { return *reinterpret_cast<opened*>(info->fh); }
bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }
bool cuts(int flags) { return (flags & O_TRUNC) != 0; }

session& of(fuse_req_t request);

// ---- Requests -------------------------------------------------------------------------------------------------------

struct stat session::attributes_of(fuse_ino_t number, const name_table::known& file) const {
  struct stat s {};
  s.st_ino = number;
  s.st_uid = ::geteuid();
  s.st_gid = ::getegid();
  s.st_mode =
      number == root ? S_IFDIR | file.mode : S_IFREG | (file.mode & (file.facts.read_only ? ~all_may_write : ~0u));
  s.st_nlink = number == root ? 2 : 1;
  s.st_size = static_cast<off_t>(file.facts.bytes);
  s.st_blocks = static_cast<blkcnt_t>((file.facts.bytes + 511) / 512);
  s.st_blksize = 1 << 20;
  s.st_atim = s.st_mtim = s.st_ctim = file.changed;
  return s;
}

/// The kernel has asked for the name a moment ago. Where another node has removed the file since, or given its name to
/// another one, `file` is what it was then: a program that asks for a name which always is there must not hear that
/// there is none.
int session::look_at(fuse_ino_t number, name_table::known& file) {
  if (!names_.find(number, file)) return ENOENT;
  if (number == root) return 0;
  file_facts facts;
  int error = files_->look_up(file.name, facts);
  if (error == 0 && facts.identity != file.facts.identity) error = ENOENT;
  if (error == ENOENT) {  // the kernel does not say by which descriptor somebody asks, if by any
    const auto open = names_.any_open(number);
    if (open == nullptr) return 0;
    error = files_->facts(open->handle, facts);
  }
  if (error != 0) return error;
  names_.saw(number, facts);
  return names_.find(number, file) ? 0 : ENOENT;
}

void session::look_up(fuse_req_t request, const char* name) {
  file_facts facts;
  int error = std::strlen(name) > most_name_bytes ? ENAMETOOLONG : 0;
  if (error == 0) error = files_->look_up(name, facts);
  if (error != 0) {
    fuse_.reply_err(request, error);
    return;
  }
  const fuse_entry_param entry = entry_of(name, facts);
  if (fuse_.reply_entry(request, &entry) != 0) names_.forget(entry.ino, 1);
}

/// The kernel is about to learn it.
fuse_entry_param session::entry_of(const char* name, const file_facts& facts, unsigned mode) {
  fuse_entry_param entry{};
  name_table::known file;
  entry.ino = names_.look_up(name, facts, mode);
  (void)names_.find(entry.ino, file);
  entry.attr = attributes_of(entry.ino, file);
  return entry;
}

void session::get_attributes(fuse_req_t request, fuse_ino_t number) {
  name_table::known file;
  if (const int error = look_at(number, file); error != 0) {
    fuse_.reply_err(request, error);
    return;
  }
  const struct stat s = attributes_of(number, file);
  fuse_.reply_attr(request, &s, 0);
}

int session::resize(fuse_ino_t number, std::uint64_t bytes, const fuse_file_info* info) {
  if (info != nullptr) {
    file_of(info).wrote.store(true);
    return files_->truncate(file_of(info).handle, bytes);
  }
  files::handle handle = 0;
  file_facts facts;
  if (const int error = open_by_number(number, true, handle, facts); error != 0) return error;
  const opened file(*files_, handle);
  const int error = files_->truncate(handle, bytes);
  return error != 0 ? error : files_->sync(handle);
}

/// The owner is who runs the job. Modes and times are those of this mount, so that programs which set them find them;
/// on other hosts nobody knows of them.
void session::set_attributes(fuse_req_t request, fuse_ino_t number, const struct stat& wanted, int which,
                             const fuse_file_info* info) {
  name_table::known file;
  int error = look_at(number, file);
  const struct stat now = attributes_of(number, file);
  const unsigned mode = wanted.st_mode & 07777;
  const unsigned never = (07777 & ~all_permissions) | (file.facts.read_only ? all_may_write : 0);
  if (error == 0 && (which & FUSE_SET_ATTR_MODE) != 0 && (mode & never) != 0) error = EPERM;
  if (error == 0 && (which & FUSE_SET_ATTR_UID) != 0 && wanted.st_uid != now.st_uid) error = EPERM;
  if (error == 0 && (which & FUSE_SET_ATTR_GID) != 0 && wanted.st_gid != now.st_gid) error = EPERM;
  if (error == 0 && (which & FUSE_SET_ATTR_SIZE) != 0) {
    error = number == root ? EISDIR : resize(number, static_cast<std::uint64_t>(wanted.st_size), info);
    if (error == 0) names_.changed_now(number);
  }
  if (error == 0 && (which & FUSE_SET_ATTR_MODE) != 0) names_.set_mode(number, mode);
  if (error == 0 && (which & FUSE_SET_ATTR_MTIME_NOW) != 0)
    names_.changed_now(number);
  else if (error == 0 && (which & FUSE_SET_ATTR_MTIME) != 0)
    names_.changed(number, wanted.st_mtim);
  if (error != 0) {
    fuse_.reply_err(request, error);
    return;
  }
  get_attributes(request, number);
}

/// close() asks for a sync of what was written, and tells of the end of locks. Not in this very process: when it ends,
/// the kernel closes its files one after the other, and would wait for an answer that no thread can give any more.
bool session::needs_no_flush(fuse_req_t request) const {
  const std::string thread = "/proc/self/task/" + std::to_string(fuse_.req_ctx(request)->pid);
  return ::access(thread.c_str(), F_OK) == 0;
}

/// The kernel has asked for the name before. If another file has it by now, ESTALE has the kernel ask again.
int session::open_by_number(fuse_ino_t number, bool writes, files::handle& handle, file_facts& facts) {
  name_table::known file;
  if (!names_.find(number, file)) return ESTALE;
  if (const int error = files_->open(file.name, writes, handle); error != 0) return error == ENOENT ? ESTALE : error;
  int error = files_->facts(handle, facts);
  if (error == 0 && facts.identity != file.facts.identity) error = ESTALE;
  if (error != 0) files_->close(handle);
  return error;
}

void session::begin_use(fuse_req_t request, fuse_ino_t number, const std::shared_ptr<opened>& file,
                        const file_facts& facts, fuse_file_info* info) {
  file->refreshed = caches_ && !writes(info->flags) && !facts.read_only;
  info->direct_io = facts.read_only || file->refreshed ? 0 : 1;
  info->noflush = needs_no_flush(request) ? 1 : 0;
  info->keep_cache = 0;  // the name may belong to another file by now
  info->fh = reinterpret_cast<std::uint64_t>(file.get());
  names_.add(number, file);
  if (file->refreshed) refresher_.on_open(number);
}

void session::end_use(fuse_ino_t number, const opened* file) {
  if (file->refreshed) refresher_.on_release(number);
  names_.remove(number, file);
}

void session::open_file(fuse_req_t request, fuse_ino_t number, fuse_file_info* info) {
  file_facts facts;
  std::shared_ptr<opened> file;
  files::handle handle = 0;
  int error = open_by_number(number, writes(info->flags) || cuts(info->flags), handle, facts);
  if (error == 0) file = std::make_shared<opened>(*files_, handle);
  if (error == 0 && cuts(info->flags)) {
    file->wrote.store(true);
    error = files_->truncate(handle, 0);
    if (error == 0) names_.changed_now(number);
  }
  if (error != 0) {
    fuse_.reply_err(request, error);
    return;
  }
  begin_use(request, number, file, facts, info);
  if (fuse_.reply_open(request, info) != 0) end_use(number, file.get());
}

void session::create_file(fuse_req_t request, const char* name, mode_t mode, fuse_file_info* info) {
  std::shared_ptr<opened> file;
  files::handle handle = 0;
  file_facts facts;
  bool found = false;
  int error = std::strlen(name) > most_name_bytes ? ENAMETOOLONG : ENOENT;
  for (int tries = 0; error == ENOENT && tries < most_tries; ++tries) {
    error = files_->create(name, handle);
    found = error == EEXIST && (info->flags & O_EXCL) == 0;  // another node was faster, and may remove it again
    if (found) error = files_->open(name, writes(info->flags) || cuts(info->flags), handle);
  }
  if (error == 0) file = std::make_shared<opened>(*files_, handle);
  if (error == 0 && found && cuts(info->flags)) {
    file->wrote.store(true);
    error = files_->truncate(handle, 0);
  }
  if (error == 0) error = files_->facts(handle, facts);
  if (error != 0) {
    fuse_.reply_err(request, error);
    return;
  }
  if (!found) names_.changed_now(root);
  const fuse_entry_param entry = entry_of(name, facts, found ? name_table::usual_mode : mode & all_permissions);
  begin_use(request, entry.ino, file, facts, info);
  if (fuse_.reply_create(request, &entry, info) == 0) return;
  end_use(entry.ino, file.get());
  names_.forget(entry.ino, 1);
}

void session::read_file(fuse_req_t request, std::size_t size, off_t at, const fuse_file_info* info) {
  // Private memory: the kernel must not meet an absent page while it takes the answer.
  static thread_local std::vector<char> buffer;
  if (buffer.size() < size) buffer.resize(size);
  std::size_t done = 0;
  if (const int error = files_->read(file_of(info).handle, static_cast<std::uint64_t>(at), buffer.data(), size, done);
      error != 0) {
    fuse_.reply_err(request, error);
    return;
  }
  fuse_.reply_buf(request, buffer.data(), done);
}

void session::write_file(fuse_req_t request, fuse_ino_t number, const char* from, std::size_t size, off_t at,
                         const fuse_file_info* info) {
  auto& file = file_of(info);
  file.wrote.store(true);
  std::size_t done = size;
  // Where the end is the kernel does not know: other nodes append, too.
  const int error = (info->flags & O_APPEND) != 0
                        ? files_->append(file.handle, from, size)
                        : files_->write(file.handle, static_cast<std::uint64_t>(at), from, size, done);
  if (error != 0) {
    fuse_.reply_err(request, error);
    return;
  }
  names_.changed_now(number);
  fuse_.reply_write(request, done);
}

/// At close() what was written is synced, so that the program hears of errors.
void session::close_descriptor(fuse_req_t request, fuse_ino_t number, const fuse_file_info* info) {
  locks_.on_flush(number, file_of(info), info->lock_owner);
  sync_file(request, info, true);
}

void session::sync_file(fuse_req_t request, const fuse_file_info* info, bool if_written) {
  auto& file = file_of(info);
  const bool wrote = file.wrote.exchange(false);
  const int error = wrote || !if_written ? files_->sync(file.handle) : 0;
  if (error != 0 && wrote) file.wrote.store(true);
  fuse_.reply_err(request, error);
}

void session::release_file(fuse_req_t request, fuse_ino_t number, const fuse_file_info* info) {
  locks_.on_release(number, file_of(info));
  end_use(number, &file_of(info));
  fuse_.reply_err(request, 0);  // nobody waits for it; close_descriptor() was before
}

void session::lock_file(fuse_req_t request, fuse_ino_t number, const fuse_file_info* info, const file_lock& wanted,
                        bool waits) {
  const auto file = names_.find_open(number, &file_of(info));
  const int error = file == nullptr ? EBADF : locks_.set(number, file, wanted);
  if (error != EAGAIN || !waits) {
    fuse_.reply_err(request, error);
    return;
  }
  auto waiter = std::make_shared<locks::waiter>();
  waiter->file = number;
  waiter->by = file;
  waiter->wanted = wanted;
  waiter->answer = [this, request](int why) {
    fuse_.req_interrupt_func(request, nullptr, nullptr);  // from here on nobody calls the function below
    fuse_.reply_err(request, why);
  };
  fuse_.req_interrupt_func(
      request, [](fuse_req_t, void* who) { static_cast<locks::waiter*>(who)->interrupted.store(true); }, waiter.get());
  locks_.wait(std::move(waiter));
}

void session::test_lock(fuse_req_t request, const fuse_file_info* info, file_lock wanted) {
  const int error = files_->test_lock(file_of(info).handle, wanted);
  if (error != 0 && error != ENOENT) {
    fuse_.reply_err(request, error);
    return;
  }
  struct flock found {};
  found.l_type = error == ENOENT ? F_UNLCK : wanted.is == file_lock::kind::exclusive ? F_WRLCK : F_RDLCK;
  found.l_whence = SEEK_SET;
  found.l_start = static_cast<off_t>(wanted.first);
  found.l_len = wanted.last >= last_byte ? 0 : static_cast<off_t>(wanted.last - wanted.first + 1);
  fuse_.reply_lock(request, &found);
}

void session::remove_file(fuse_req_t request, const char* name) {
  const int error = files_->remove(name);
  if (error == 0) names_.changed_now(root);
  fuse_.reply_err(request, error);
}

void session::rename_file(fuse_req_t request, const char* from, const char* to, unsigned how) {
  int error = (how & ~unsigned{RENAME_NOREPLACE}) != 0 ? EINVAL : std::strlen(to) > most_name_bytes ? ENAMETOOLONG : 0;
  if (error == 0) error = files_->rename(from, to, (how & RENAME_NOREPLACE) != 0);
  if (error == 0) names_.changed_now(root);
  fuse_.reply_err(request, error);
}

/// read_directory() takes the names as they are when a program is at the beginning, for the first time or again, and
/// gives them out in pieces.
void session::open_directory(fuse_req_t request, fuse_file_info* info) {
  auto found = std::make_unique<std::vector<named_file>>();
  info->fh = reinterpret_cast<std::uint64_t>(found.get());
  if (fuse_.reply_open(request, info) == 0) (void)found.release();
}

void session::read_directory(fuse_req_t request, std::size_t size, off_t at, const fuse_file_info* info) {
  auto& found = *reinterpret_cast<std::vector<named_file>*>(info->fh);
  if (at == 0) {
    std::vector<named_file> now;
    if (const int error = files_->list(now); error != 0) {
      fuse_.reply_err(request, error);
      return;
    }
    found = std::move(now);
  }
  std::vector<char> buffer(size);
  std::size_t used = 0;
  for (std::size_t i = static_cast<std::size_t>(at); i < found.size() + 2; ++i) {
    const char* const name = i == 0 ? "." : i == 1 ? ".." : found[i - 2].name.c_str();
    struct stat s {};
    s.st_ino = i < 2 ? root : unknown_number;
    s.st_mode = i < 2 ? S_IFDIR : S_IFREG;
    const std::size_t needed =
        fuse_.add_direntry(request, buffer.data() + used, size - used, name, &s, static_cast<off_t>(i + 1));
    if (needed > size - used) break;
    used += needed;
  }
  fuse_.reply_buf(request, buffer.data(), used);
}

void session::tell_space(fuse_req_t request) {
  std::uint64_t bytes = 0, free = 0;
  files_->space(bytes, free);
  struct statvfs s {};
  s.f_bsize = s.f_frsize = block_bytes;
  s.f_blocks = bytes / block_bytes;
  s.f_bfree = s.f_bavail = free / block_bytes;
  s.f_namemax = most_name_bytes;
  fuse_.reply_statfs(request, &s);
}

// ---- The table for libfuse ------------------------------------------------------------------------------------------

// libfuse gives the session with each request; which library that is no function of ours would know otherwise.
const library* g_fuse = nullptr;
session& of(fuse_req_t request) { return *static_cast<session*>(g_fuse->req_userdata(request)); }

file_lock lock_of(std::uint64_t owner, const struct flock& asked) {
  const auto kind = asked.l_type == F_UNLCK   ? file_lock::kind::none
                    : asked.l_type == F_WRLCK ? file_lock::kind::exclusive
                                              : file_lock::kind::shared;
  const auto first = static_cast<std::uint64_t>(asked.l_start);
  return {owner, false, kind, first,
          asked.l_len == 0 ? last_byte : first + static_cast<std::uint64_t>(asked.l_len) - 1};
}

void refuse(fuse_req_t request, int error) { g_fuse->reply_err(request, error); }

fuse_lowlevel_ops operations() {
  fuse_lowlevel_ops o{};
  o.init = [](void*, fuse_conn_info* connection) {
    connection->want &= ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
                                               FUSE_CAP_WRITEBACK_CACHE);
  };
  o.lookup = [](fuse_req_t r, fuse_ino_t parent, const char* name) {
    parent == root ? of(r).look_up(r, name) : refuse(r, ENOTDIR);
  };
  o.forget = [](fuse_req_t r, fuse_ino_t number, std::uint64_t look_ups) {
    of(r).names().forget(number, look_ups);
    g_fuse->reply_none(r);
  };
  o.getattr = [](fuse_req_t r, fuse_ino_t number, fuse_file_info*) { of(r).get_attributes(r, number); };
  o.setattr = [](fuse_req_t r, fuse_ino_t number, struct stat* wanted, int which, fuse_file_info* info) {
    of(r).set_attributes(r, number, *wanted, which, info);
  };
  o.open = [](fuse_req_t r, fuse_ino_t number, fuse_file_info* info) { of(r).open_file(r, number, info); };
  o.create = [](fuse_req_t r, fuse_ino_t, const char* name, mode_t mode, fuse_file_info* info) {
    of(r).create_file(r, name, mode, info);
  };
  o.read = [](fuse_req_t r, fuse_ino_t, std::size_t size, off_t at, fuse_file_info* info) {
    of(r).read_file(r, size, at, info);
  };
  o.write = [](fuse_req_t r, fuse_ino_t number, const char* from, std::size_t size, off_t at, fuse_file_info* info) {
    of(r).write_file(r, number, from, size, at, info);
  };
  o.flush = [](fuse_req_t r, fuse_ino_t number, fuse_file_info* info) { of(r).close_descriptor(r, number, info); };
  o.fsync = [](fuse_req_t r, fuse_ino_t, int, fuse_file_info* info) { of(r).sync_file(r, info, false); };
  o.release = [](fuse_req_t r, fuse_ino_t number, fuse_file_info* info) { of(r).release_file(r, number, info); };
  o.getlk = [](fuse_req_t r, fuse_ino_t, fuse_file_info* info, struct flock* asked) {
    of(r).test_lock(r, info, lock_of(info->lock_owner, *asked));
  };
  o.setlk = [](fuse_req_t r, fuse_ino_t number, fuse_file_info* info, struct flock* asked, int waits) {
    of(r).lock_file(r, number, info, lock_of(info->lock_owner, *asked), waits != 0);
  };
  o.flock = [](fuse_req_t r, fuse_ino_t number, fuse_file_info* info, int how) {
    const auto kind = (how & LOCK_UN) != 0   ? file_lock::kind::none
                      : (how & LOCK_EX) != 0 ? file_lock::kind::exclusive
                                             : file_lock::kind::shared;
    of(r).lock_file(r, number, info, {info->lock_owner, true, kind, 0, last_byte}, (how & LOCK_NB) == 0);
  };
  o.unlink = [](fuse_req_t r, fuse_ino_t, const char* name) { of(r).remove_file(r, name); };
  o.opendir = [](fuse_req_t r, fuse_ino_t, fuse_file_info* info) { of(r).open_directory(r, info); };
  o.readdir = [](fuse_req_t r, fuse_ino_t, std::size_t size, off_t at, fuse_file_info* info) {
    of(r).read_directory(r, size, at, info);
  };
  o.releasedir = [](fuse_req_t r, fuse_ino_t, fuse_file_info* info) {
    delete reinterpret_cast<std::vector<named_file>*>(info->fh);
    refuse(r, 0);
  };
  o.statfs = [](fuse_req_t r, fuse_ino_t) { of(r).tell_space(r); };
  // There are files only.
  o.mkdir = [](fuse_req_t r, fuse_ino_t, const char*, mode_t) { refuse(r, EPERM); };
  o.mknod = [](fuse_req_t r, fuse_ino_t, const char*, mode_t, dev_t) { refuse(r, EPERM); };
  o.symlink = [](fuse_req_t r, const char*, fuse_ino_t, const char*) { refuse(r, EPERM); };
  o.link = [](fuse_req_t r, fuse_ino_t, fuse_ino_t, const char*) { refuse(r, EPERM); };
  o.rename = [](fuse_req_t r, fuse_ino_t, const char* from, fuse_ino_t, const char* to, unsigned how) {
    of(r).rename_file(r, from, to, how);
  };
  return o;
}

// ---- Begin, threads, end --------------------------------------------------------------------------------------------

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
  const os::signals_blocked_scope signals;
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
  g_fuse = &fuse_;
  const fuse_lowlevel_ops table = operations();
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
  files_ = &shown;
  const int device = fuse_.session_fd(session_);
  (void)os::set_blocking(device, false);
  const os::signals_blocked_scope signals;
  for (unsigned i = 0; i < threads; ++i) threads_.push_back(os::start_thread([this] { work(); }));
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
    const os::signals_blocked_scope signals;  // fusermount3 may be started
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

}  // namespace

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
