// SPDX-License-Identifier: BSD-3-Clause
// Requests of the kernel to a mount, in threads of the mount.
#include "mount/session.hpp"

#ifdef QUIRE_HAVE_FUSE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "os/foreign_library.hpp"
#include "os/process.hpp"

namespace quire::mount {
namespace {

constexpr fuse_ino_t unknown_number = 0xffffffff;  ///< of a name in a list, as libfuse has it
constexpr std::uint32_t block_bytes = 4096;
constexpr unsigned all_permissions = 0777, all_may_write = 0222;
constexpr int most_tries = 100;  ///< to make a file that others make and remove meanwhile

opened& file_of(const fuse_file_info* info) { return *reinterpret_cast<opened*>(info->fh); }
bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }
bool cuts(int flags) { return (flags & O_TRUNC) != 0; }

}  // namespace

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
  // One of flock that waits gives up what its owner has before it queues.
  const auto how = waits && !wanted.of_flock ? lock_wait::queues : lock_wait::none;
  const int error = file == nullptr ? EBADF : locks_.set(number, file, wanted, how);
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

}  // namespace quire::mount
#endif
