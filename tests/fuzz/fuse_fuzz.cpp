// SPDX-License-Identifier: BSD-3-Clause
// Requests to a mounted directory, as libfuse hands them on: any order, names, offsets and sizes, over files in memory.
// As the kernel does, they name files and openings that were told, and no others. Each is answered once, a read gives
// what the file has, and at the end nothing is open.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "input.hpp"
#include "mount/session.hpp"

#ifdef QUIRE_HAVE_FUSE
namespace {

using namespace quire::mount;

class few_files final : public files {
 public:
  using content = std::shared_ptr<std::string>;
  static constexpr std::uint64_t most_bytes = 1 << 16;
  std::map<std::string, content> named{};
  std::map<handle, content> open_now{};

  int list(std::vector<named_file>& into) override {
    for (const auto& [name, c] : named) into.push_back({name, facts_of(c)});
    return 0;
  }
  int look_up(const std::string& name, file_facts& into) override {
    if (!named.contains(name)) return ENOENT;
    into = facts_of(named[name]);
    return 0;
  }
  int open(const std::string& name, bool, handle& into) override {
    if (!named.contains(name)) return ENOENT;
    open_now[into = ++last_] = named[name];
    return 0;
  }
  int create(const std::string& name, handle& into) override {
    if (named.contains(name)) return EEXIST;
    MUST(!name.empty() && name.size() <= most_name_bytes);
    open_now[into = ++last_] = named[name] = std::make_shared<std::string>();
    return 0;
  }
  void close(handle h) override { MUST(open_now.erase(h) == 1); }
  int facts(handle h, file_facts& into) override {
    into = facts_of(open_now.at(h));
    return 0;
  }
  int read(handle h, std::uint64_t at, void* into, std::size_t size, std::size_t& done) override {
    const std::string& all = *open_now.at(h);
    done = at < all.size() ? std::min(size, all.size() - at) : 0;
    if (done != 0) std::memcpy(into, all.data() + at, done);
    return 0;
  }
  int write(handle h, std::uint64_t at, const void* from, std::size_t size, std::size_t& done) override {
    if (at > most_bytes || size > most_bytes - at) return EFBIG;
    std::string& all = *open_now.at(h);
    all.resize(std::max(all.size(), at + size));
    if (size != 0) std::memcpy(all.data() + at, from, size);
    done = size;
    return 0;
  }
  int append(handle h, const void* from, std::size_t size) override {
    std::size_t done = 0;
    return write(h, open_now.at(h)->size(), from, size, done);
  }
  int truncate(handle h, std::uint64_t bytes) override {
    if (bytes > most_bytes) return EFBIG;
    open_now.at(h)->resize(bytes);
    return 0;
  }
  int sync(handle h) override { return open_now.contains(h) ? 0 : EBADF; }
  int remove(const std::string& name) override { return named.erase(name) == 1 ? 0 : ENOENT; }
  int rename(const std::string& from, const std::string& to, bool exclusive) override {
    if (!named.contains(from)) return ENOENT;
    if (exclusive && named.contains(to)) return EEXIST;
    MUST(to.size() <= most_name_bytes);
    const content c = named[from];
    named.erase(from);
    named[to] = c;
    return 0;
  }
  int lock(handle h, const file_lock& wanted, lock_wait how) override {
    MUST(open_now.contains(h) && wanted.first <= wanted.last);
    if (how == lock_wait::withdraws || wanted.is == file_lock::kind::none) return 0;
    return wanted.owner % 5 == 0 && how == lock_wait::queues ? EDEADLK : wanted.owner % 3 == 0 ? EAGAIN : 0;
  }
  int test_lock(handle h, file_lock&) override {
    MUST(open_now.contains(h));
    return ENOENT;
  }
  void space(std::uint64_t& bytes, std::uint64_t& free) override { bytes = free = most_bytes; }

 private:
  static file_facts facts_of(const content& c) { return {c->size(), reinterpret_cast<std::uintptr_t>(c.get()), false}; }
  handle last_ = 0;
};

/// What libfuse would do with answers.
struct answers {
  unsigned given = 0;
  int error = 0;
  fuse_entry_param entry{};
  fuse_file_info info{};
  bool is_entry = false, is_open = false;
  std::string bytes{};
};
answers g_answer;
session* g_session = nullptr;
fuse_ctx g_context{};

library fake() {
  library l;
  l.req_userdata = [](fuse_req_t) -> void* { return g_session; };
  l.req_ctx = [](fuse_req_t) -> const fuse_ctx* { return &g_context; };
  l.reply_err = [](fuse_req_t, int error) {
    MUST(error >= 0);
    ++g_answer.given;
    g_answer.error = error;
    return 0;
  };
  l.reply_none = [](fuse_req_t) { ++g_answer.given; };
  l.reply_entry = [](fuse_req_t, const fuse_entry_param* e) {
    ++g_answer.given;
    g_answer.entry = *e;
    g_answer.is_entry = true;
    return 0;
  };
  l.reply_create = [](fuse_req_t, const fuse_entry_param* e, const fuse_file_info* info) {
    ++g_answer.given;
    g_answer.entry = *e;
    g_answer.info = *info;
    g_answer.is_entry = g_answer.is_open = true;
    return 0;
  };
  l.reply_attr = [](fuse_req_t, const struct stat* about, double) {
    MUST(about->st_size >= 0);
    ++g_answer.given;
    return 0;
  };
  l.reply_open = [](fuse_req_t, const fuse_file_info* info) {
    ++g_answer.given;
    g_answer.info = *info;
    g_answer.is_open = true;
    return 0;
  };
  l.reply_write = [](fuse_req_t, std::size_t) {
    ++g_answer.given;
    return 0;
  };
  l.reply_buf = [](fuse_req_t, const char* bytes, std::size_t size) {
    ++g_answer.given;
    if (size != 0) g_answer.bytes.assign(bytes, size);
    return 0;
  };
  l.reply_statfs = [](fuse_req_t, const struct statvfs*) {
    ++g_answer.given;
    return 0;
  };
  l.reply_lock = [](fuse_req_t, const struct flock*) {
    ++g_answer.given;
    return 0;
  };
  l.add_direntry = [](fuse_req_t, char* to, std::size_t size, const char* name, const struct stat*, off_t) {
    const std::size_t needs = (std::strlen(name) + 24 + 7) / 8 * 8;
    if (to != nullptr && needs <= size) std::memset(to, 'e', needs);
    return needs;
  };
  l.req_interrupt_func = [](fuse_req_t, fuse_interrupt_func_t, void*) {};
  l.lowlevel_notify_inval_inode = [](fuse_session*, fuse_ino_t, off_t, off_t) { return 0; };
  return l;
}

/// The kernel's side.
class asker {
 public:
  asker(const fuse_lowlevel_ops& o, quire::fuzz::input& from) : o_(o), in_(from) {}

  void one() {
    const auto what = in_.take<std::uint8_t>();
    const unsigned which = in_.take<std::uint8_t>();
    switch (what % 16) {
      case 0:
        return ask([&](fuse_req_t r) { o_.lookup(r, which < 250 ? root : root + which, name(which).c_str()); });
      case 1:
        return ask([&](fuse_req_t r) {
          fuse_file_info info{};
          info.flags = O_RDWR | (which & 64 ? O_APPEND : 0) | (which & 128 ? O_TRUNC : 0);
          o_.create(r, root, name(which).c_str(), 0100644, &info);
        });
      case 2:
        return ask([&](fuse_req_t r) { o_.unlink(r, root, name(which).c_str()); });
      case 3:
        return ask([&](fuse_req_t r) {
          const std::string to = name(in_.take<std::uint8_t>());
          o_.rename(r, root, name(which).c_str(), root, to.c_str(), in_.take<std::uint8_t>() % 4);
        });
      case 4:
        return ask([&](fuse_req_t r) { o_.statfs(r, root); });
      case 5:
        return ask([&](fuse_req_t r) { o_.getattr(r, number(which), nullptr); });
      case 6:
        return set_attributes(which);
      case 7:
        if (numbers_.empty()) return;
        return ask([&](fuse_req_t r) {
          fuse_file_info info{};
          info.flags = static_cast<int>(which % 3) | (which & 64 ? O_APPEND : 0) | (which & 128 ? O_TRUNC : 0);
          o_.open(r, opens_ = numbers_[which % numbers_.size()], &info);
        });
      case 8:
        return directory(which);
      case 9:
        return forget(which);
      default:
        if (!open_.empty()) on_opening(what, which % open_.size());
    }
  }
  void end() {
    while (!open_.empty()) release(open_.size() - 1);
    while (!numbers_.empty()) forget(0);
  }

 private:
  struct opening {
    fuse_ino_t number;
    fuse_file_info info;
  };

  template <class F>
  void ask(F&& call) {
    g_answer = {};
    call(reinterpret_cast<fuse_req_t>(this));
    MUST(g_answer.given == 1);
    if (g_answer.is_entry && g_answer.entry.ino != 0) numbers_.push_back(opens_ = g_answer.entry.ino);
    if (g_answer.is_open) open_.push_back({opens_, g_answer.info});
  }
  std::string name(unsigned which) {
    if (which % 8 != 7) return std::string(1 + which % 4 * 21, static_cast<char>('a' + which % 3));
    std::string any(quire::fuzz::text_of(in_.take(which / 2)));
    for (char& c : any) c = c == 0 || c == '/' ? '.' : c;
    return any.empty() ? "." : any;
  }
  fuse_ino_t number(unsigned which) const {
    return numbers_.empty() || which % 8 == 0 ? root : numbers_[which % numbers_.size()];
  }
  void set_attributes(unsigned which) {
    struct stat wanted {};
    wanted.st_size = static_cast<off_t>(in_.take<std::uint64_t>() >> (which % 2 == 0 ? 48 : 1));
    wanted.st_mode = in_.take<std::uint16_t>();
    const int fields = in_.take<std::uint16_t>();
    ask([&](fuse_req_t r) {
      opening* const by = which % 3 == 0 && !open_.empty() ? &open_[which % open_.size()] : nullptr;
      o_.setattr(r, by != nullptr ? by->number : number(which), &wanted, fields, by != nullptr ? &by->info : nullptr);
    });
  }
  void directory(unsigned which) {
    fuse_file_info info{};
    ask([&](fuse_req_t r) { o_.opendir(r, root, &info); });
    if (!g_answer.is_open) return;
    info = open_.back().info;
    open_.pop_back();
    const std::size_t size = which * std::size_t{8};
    ask([&](fuse_req_t r) { o_.readdir(r, root, size, in_.take<std::uint8_t>(), &info); });
    MUST(g_answer.bytes.size() <= size);
    ask([&](fuse_req_t r) { o_.releasedir(r, root, &info); });
  }
  void forget(unsigned which) {
    if (numbers_.empty()) return;
    const auto at = numbers_.begin() + static_cast<std::ptrdiff_t>(which % numbers_.size());
    const fuse_ino_t gone = *at;
    for (const opening& o : open_)
      if (o.number == gone && std::count(numbers_.begin(), numbers_.end(), gone) == 1) return;
    numbers_.erase(at);
    ask([&](fuse_req_t r) { o_.forget(r, gone, 1); });
  }
  void release(std::size_t which) {
    opening o = open_[which];
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(which));
    ask([&](fuse_req_t r) { o_.flush(r, o.number, &o.info); });
    ask([&](fuse_req_t r) { o_.release(r, o.number, &o.info); });
  }
  void on_opening(unsigned what, std::size_t which) {
    opening& o = open_[which];
    const auto at = static_cast<off_t>(in_.take<std::uint16_t>());
    const std::size_t size = in_.take<std::uint16_t>();
    o.info.lock_owner = size % 5 + 1;
    struct flock asked {};
    asked.l_type = static_cast<short>(at % 3 == 0 ? F_RDLCK : at % 3 == 1 ? F_WRLCK : F_UNLCK);
    asked.l_start = at;
    asked.l_len = static_cast<off_t>(size % 64);
    switch (what % 16) {
      case 10: {
        ask([&](fuse_req_t r) { o_.read(r, o.number, size, at, &o.info); });
        MUST(g_answer.bytes.size() <= size);
        return;
      }
      case 11: {
        const std::string bytes(size, 'w');
        return ask([&](fuse_req_t r) { o_.write(r, o.number, bytes.data(), bytes.size(), at, &o.info); });
      }
      case 12:
        return ask([&](fuse_req_t r) { o_.fsync(r, o.number, 0, &o.info); });
      case 13:
        return ask([&](fuse_req_t r) { o_.setlk(r, o.number, &o.info, &asked, 0); });
      case 14:
        return ask([&](fuse_req_t r) { o_.getlk(r, o.number, &o.info, &asked); });
      default:
        return release(which);
    }
  }

  const fuse_lowlevel_ops& o_;
  quire::fuzz::input& in_;
  std::vector<fuse_ino_t> numbers_{};  ///< as often as it was told
  std::vector<opening> open_{};
  fuse_ino_t opens_ = root;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static const library fuse = fake();
  static const fuse_lowlevel_ops table = operations(fuse);
  quire::fuzz::input all(data, bytes);
  few_files shown;
  {
    session s(fuse, all.take<std::uint8_t>() % 2 == 1);
    s.show(shown);
    g_session = &s;
    asker kernel(table, all);
    while (!all.empty()) kernel.one();
    kernel.end();
    MUST(shown.open_now.empty());
  }
  g_session = nullptr;
  return 0;
}
#else
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return 0; }
#endif
