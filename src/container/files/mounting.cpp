// SPDX-License-Identifier: BSD-3-Clause
#include "container/files/mounting.hpp"

#include <quire/container.h>

#include <algorithm>
#include <cerrno>

#include "container/service/service.hpp"
#include "runtime/runtime.hpp"
#include "container/name_table.hpp"

namespace quire::api {
namespace {

static_assert(mount::most_name_bytes == container::longest_name);

int errno_of(quire_status status) noexcept {
  switch (status) {
    case QUIRE_OK:
      return 0;
    case QUIRE_NOT_FOUND:
      return ENOENT;
    case QUIRE_EXISTS:
      return EEXIST;
    case QUIRE_BEYOND:
      return EFBIG;
    case QUIRE_BUSY:
      return EBUSY;
    case QUIRE_INVALID:
      return EINVAL;
    case QUIRE_UNSUPPORTED:
      return EOPNOTSUPP;
    case QUIRE_NO_MEMORY:
      return ENOMEM;
    case QUIRE_LIMIT:
    case QUIRE_NO_ADDRESSES:
      return ENOSPC;
    default:
      return EIO;
  }
}

/// By the calls that programs have, in the mount's threads: each file that is open is an opening of its container.
class container_files final : public mount::files {
 public:
  explicit container_files(std::uint64_t range_bytes) : range_bytes_(range_bytes) {}

  int list(std::vector<mount::named_file>& into) override {
    return errno_of(quire_container_list(
        [](void* found, const char* name, std::uint64_t bytes, unsigned flags) {
          static_cast<std::vector<mount::named_file>*>(found)->push_back(
              {name, {bytes, 0, (flags & QUIRE_CONTAINER_READ_ONLY) != 0}});
          return 0;
        },
        &into));
  }
  int look_up(const std::string& name, mount::file_facts& into) override {
    return with_containers([&](container_service& all) {
      container_service::facts found;
      const auto why = all.look_up(name, found);
      into = {found.bytes, found.identity, found.read_only};
      return why.code();
    });
  }
  int open(const std::string& name, bool writes, handle& into) override {
    const auto why = open_with(name, writes ? 0 : QUIRE_CONTAINER_READ_ONLY, into);
    return writes && why == QUIRE_INVALID ? EACCES : errno_of(why);
  }
  int create(const std::string& name, handle& into) override {
    return errno_of(open_with(name, QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_EXCLUSIVE, into));
  }
  void close(handle h) override { (void)quire_container_close({h}); }
  int facts(handle h, mount::file_facts& into) override {
    return with_containers([&](container_service& all) {
      container_service::facts found;
      const auto why = all.facts_of({h}, found);
      into = {found.bytes, found.identity, found.read_only};
      return why.code();
    });
  }
  int read(handle h, std::uint64_t at, void* into, std::size_t size, std::size_t& done) override {
    const auto why = quire_container_read({h}, at, into, size, &done);
    return done != 0 ? 0 : errno_of(why);
  }
  int write(handle h, std::uint64_t at, const void* from, std::size_t size, std::size_t& done) override {
    const auto why = quire_container_write({h}, at, from, size, &done);
    return done != 0 ? 0 : errno_of(why);
  }
  int append(handle h, const void* from, std::size_t size) override {
    return errno_of(quire_container_append({h}, from, size, nullptr));
  }
  int truncate(handle h, std::uint64_t bytes) override { return errno_of(quire_container_truncate({h}, bytes)); }
  int sync(handle h) override { return errno_of(quire_container_sync({h}, 0, 0)); }
  int remove(const std::string& name) override {
    return with_containers([&](container_service& all) { return all.unlink(name).code(); });
  }
  int rename(const std::string& from, const std::string& to, bool exclusive) override {
    return with_containers([&](container_service& all) { return all.rename(from, to, exclusive).code(); });
  }
  int lock(handle h, const mount::file_lock& wanted, mount::lock_wait how) override {
    bool deadlock = false;
    const int error = with_containers([&](container_service& all) {
      const auto why = all.lock({h}, of(wanted), static_cast<container::lock_wait>(how)).code();
      deadlock = why == QUIRE_CONFLICT;
      return why;
    });
    return deadlock ? EDEADLK : error == EBUSY ? EAGAIN : error == ENOSPC ? ENOLCK : error;
  }
  int test_lock(handle h, mount::file_lock& wanted) override {
    return with_containers([&](container_service& all) {
      container::range_lock asked = of(wanted);
      const auto why = all.test_lock({h}, asked);
      wanted.is = static_cast<mount::file_lock::kind>(asked.kind);
      wanted.first = asked.first;
      wanted.last = asked.last;
      return why.code();
    });
  }
  void space(std::uint64_t& bytes, std::uint64_t& free) override {
    std::vector<mount::named_file> all;
    (void)list(all);
    std::uint64_t used = 0;
    for (const auto& one : all) used += one.facts.bytes;
    bytes = range_bytes_;
    free = range_bytes_ - std::min(used, range_bytes_);
  }

 private:
  static container::range_lock of(const mount::file_lock& l) {
    static_assert(static_cast<int>(mount::file_lock::kind::exclusive) ==
                  static_cast<int>(container::lock_kind::exclusive));
    return {{l.owner, 0, l.of_flock}, static_cast<container::lock_kind>(l.is), l.first, l.last};
  }
  /// As a call of the API does what `f` does.
  template <class F>
  static int with_containers(F&& f) {
    return errno_of([&]() -> quire_status {
      QUIRE_ENTER(r);
      return f(*r->containers);
    }());
  }
  static quire_status open_with(const std::string& name, unsigned flags, handle& into) {
    quire_container_options how{};
    how.size = sizeof how;
    how.flags = flags;
    quire_container c{};
    const auto why = quire_container_open(name.c_str(), &how, &c);
    into = c.id;
    return why;
  }
  std::uint64_t range_bytes_;
};

}  // namespace

base::status mounting::open(const std::string& directory, bool caches, const std::vector<std::uint64_t>& places,
                            unsigned self) {
  anywhere_ = std::any_of(places.begin(), places.end(), [](std::uint64_t place) { return place != 0; });
  if (places[self] == 0 || std::find(places.begin(), places.end(), places[self]) - places.begin() != self) return {};
  auto opened = mount::open(directory, caches);
  if (!opened.ok()) return opened.why();
  mounted_ = std::move(opened.value());
  return {};
}

void mounting::serve(std::uint64_t range_bytes) {
  if (mounted_ == nullptr) return;
  shown_ = std::make_unique<container_files>(range_bytes);
  mounted_->serve(*shown_);
}

void mounting::close() noexcept { mounted_.reset(); }

}  // namespace quire::api
