// SPDX-License-Identifier: BSD-3-Clause
// The content of containers, by calls. All of it goes through the memory that mappings show, so that both agree. A
// container becomes longer under its mutex, and when the content is there: who sees the new end sees what was written.
#include <algorithm>
#include <cstring>

#include "container/service/service.hpp"
#include "base/clock.hpp"
#include "base/detail.hpp"
#include "core/fault.hpp"
#include "core/fault_ranges.hpp"
#include "core/region_slot.hpp"
#include "core/stored_units.hpp"

namespace quire::api {

using base::explain;

namespace {
constexpr std::uint64_t ahead_bytes = 1u << 20;

unsigned long number(std::uint64_t n) noexcept { return static_cast<unsigned long>(n); }
/// A plain load of what others change.
std::uint64_t now(const std::uint64_t& of) noexcept { return __atomic_load_n(&of, __ATOMIC_ACQUIRE); }
void set(std::uint64_t& of, std::uint64_t to) noexcept { __atomic_store_n(&of, to, __ATOMIC_RELEASE); }
}  // namespace

/// The mutex of a container. What was said of an error stays.
class container_service::locked {
 public:
  explicit locked(const container_head& head) noexcept : mutex_{head.mutex}, why_(quire_mutex_lock(mutex_)) {}
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;
  ~locked() {
    if (!why_.ok()) return;
    const std::string said = base::detail();
    (void)quire_mutex_unlock(mutex_);
    if (!said.empty()) (void)explain(QUIRE_OK, "%s", said.c_str());
  }
  [[nodiscard]] base::status why() const noexcept { return why_; }

 private:
  quire_mutex mutex_;
  base::status why_;
};

base::status container_service::region(quire_container c, quire_region& region) {
  base::status why;
  if (const opening_ptr o = find("quire_container_region", c, why); o != nullptr) region.id = o->head->region;
  return why;
}

base::status container_service::map(quire_container c, void** address, std::uint64_t* capacity) {
  base::status why;
  const opening_ptr o = find("quire_container_map", c, why);
  if (o == nullptr) return why;
  if (address != nullptr) *address = reinterpret_cast<void*>(o->base);
  if (capacity != nullptr) *capacity = o->capacity;
  return {};
}

base::status container_service::bytes(quire_container c, std::uint64_t& bytes) {
  base::status why;
  if (const opening_ptr o = find("quire_container_bytes", c, why); o != nullptr) bytes = now(o->head->bytes);
  return why;
}

// ---- Copying

/// In or out; the other one is null. Each time as far as the content is here: what the linker does not give is an error
/// here, and in the copy it would be a signal.
base::status container_service::copy_plainly(const char* call, const opening& o, std::uint64_t at, std::byte* out,
                                             const std::byte* in, std::size_t bytes, std::size_t& done) {
  const std::uint64_t unit = o.head->unit_bytes;
  const bool linked = o.head->linked != 0;
  const auto want = in != nullptr ? model::access::write : model::access::read;
  std::uint64_t asked = 0;  // bytes that are on their way
  while (done < bytes) {
    const std::uint64_t address = o.base + at + done;
    if (done >= asked) {
      const std::uint64_t next = std::min<std::uint64_t>(bytes - done, ahead_bytes);
      prefetch_range(core_, address, next, want);
      asked = done + next;
    }
    std::size_t piece = asked - done;
    if (linked) piece = usable_bytes(core_, address, piece, want);
    if (piece == 0) {
      if (const auto why = core_.faults.fault(address, in != nullptr, base::now_ns()); why == QUIRE_LOST) {
        return explain(QUIRE_LOST,
                       "%s(): a node is lost that alone had what is at byte %lu of container '%s', and reached '%s'",
                       call, number(at + done), o.head->name, o.head->what);
      } else if (!why.ok()) {
        return explain(
            why.code(),
            "%s(): linker '%s' does not give what is at byte %lu of container '%s' (the node that reads '%s' says why)",
            call, o.head->linker, number(at + done), o.head->name, o.head->what);
      }
      piece = std::min<std::uint64_t>(bytes - done, unit - (at + done) % unit);
    }
    auto* const there = reinterpret_cast<std::byte*>(address);
    in != nullptr ? std::memcpy(there, in + done, piece) : std::memcpy(out + done, there, piece);
    done += piece;
  }
  return {};
}

/// No other call of this node has pinned any of the container as long as this lasts.
std::unique_lock<std::mutex> container_service::nobody_pins(const opening& o) {
  return o.pins != nullptr ? std::unique_lock(*o.pins) : std::unique_lock<std::mutex>();
}

base::status container_service::copy(const char* call, const opening& o, std::uint64_t at, std::byte* out,
                                     const std::byte* in, std::size_t bytes, std::size_t& done) {
  done = 0;
  if (o.head->atomic == 0 || bytes == 0) return copy_plainly(call, o, at, out, in, bytes, done);
  void* const first = reinterpret_cast<void*>(o.base + at);
  const auto alone = nobody_pins(o);
  if (const quire_status why = quire_pin(first, bytes, -1, nullptr); why != QUIRE_OK) return why;
  const auto why = copy_plainly(call, o, at, out, in, bytes, done);
  const std::string said = base::detail();
  const quire_status released = quire_unpin(first, bytes);
  if (!why.ok()) return explain(why.code(), "%s", said.c_str());
  return released;
}

base::status container_service::read(quire_container c, std::uint64_t at, void* buffer, std::size_t bytes,
                                     std::size_t& done) {
  constexpr const char* call = "quire_container_read";
  done = 0;
  base::status why;
  const opening_ptr o = find(call, c, why);
  if (o == nullptr) return why;
  if (buffer == nullptr && bytes != 0) return explain(QUIRE_INVALID, "%s(): the buffer is NULL", call);
  const std::uint64_t end = now(o->head->bytes);
  if (at >= end) return {};
  return copy(call, *o, at, static_cast<std::byte*>(buffer), nullptr, std::min<std::uint64_t>(bytes, end - at), done);
}

base::status container_service::check_writes(const char* call, const opening& o) const {
  if (o.writes) return {};
  return explain(QUIRE_INVALID, "%s(): container '%s' was opened with QUIRE_CONTAINER_READ_ONLY", call, o.head->name);
}

// ---- The end

base::status container_service::can_grow(const char* call, const opening& o, std::uint64_t bytes) const {
  if (bytes > o.capacity) {
    return explain(
        QUIRE_BEYOND,
        "%s(): container '%s' has addresses for %lu bytes, and would have %lu: make it with a larger capacity", call,
        o.head->name, number(o.capacity), number(bytes));
  }
  const bool can = o.head->linked == 0 || (o.head->can & QUIRE_LINK_TRUNCATE) != 0 || o.head->grain == 0;
  if (can) return {};
  return explain(QUIRE_UNSUPPORTED,
                 "%s(): container '%s' cannot become longer: its linker '%s' cannot (QUIRE_LINK_TRUNCATE)", call,
                 o.head->name, o.head->linker);
}

/// Under the mutex. The content of the linker ends where the container does, if it can be cut; then there may be
/// content beyond again. Where it cannot, it has old content there: so there is none until the container grows, which
/// tries again.
container_service::answer container_service::cut_linker(const opening& o) {
  set(o.head->owed, 1);
  answer got = ask(o.head->home, io_order::tell_end, o.number, now(o.head->bytes));
  if (got.why.ok()) got.why = core_.stored.grow(o.base, core_.regions.find(o.base)->about.bytes);
  if (got.why.ok()) set(o.head->owed, 0);
  return got;
}

/// Under the mutex. A linker with a grain does not see where the content ends: it is told before anything is there.
base::status container_service::tell_linker(const char* call, const opening& o, std::uint64_t bytes) {
  if (now(o.head->owed) != 0) {
    if (!cut_linker(o).why.ok()) {
      return explain(
          QUIRE_IO,
          "%s(): linker '%s' has not made container '%s' shorter, as it was to; until it does it cannot become longer",
          call, o.head->linker, o.head->name);
    }
  }
  if (o.head->grain != 0) {
    const answer got = ask(o.head->home, io_order::tell_end, o.number, bytes);
    if (!got.why.ok()) {
      const char* const reason =
          got.a != 0 && got.a < 4096 ? std::strerror(static_cast<int>(got.a)) : "it gave no reason";
      return explain(QUIRE_IO, "%s(): linker '%s' cannot make the content of container '%s' longer: %s", call,
                     o.head->linker, o.head->name, reason);
    }
    for_each_io(*o.head, [&](unsigned node) { (void)ask(node, io_order::note_end, o.number, bytes); });
    set(o.head->announced, bytes);
  }
  return {};
}

/// Under the mutex. `bytes` is not less than there are.
base::status container_service::grow(const char* call, const opening& o, std::uint64_t bytes) {
  if (const auto why = can_grow(call, o, bytes); !why.ok()) return why;
  if (const auto why = tell_linker(call, o, bytes); !why.ok()) return why;
  set(o.head->bytes, bytes);
  return {};
}

/// Under the mutex. Beyond the end first the linker is told, then the content is there, and at last the end.
base::status container_service::write_longer(const char* call, const opening& o, std::uint64_t at,
                                             const std::byte* from, std::size_t bytes, std::size_t& done) {
  done = 0;
  const std::uint64_t before = now(o.head->bytes), end = bytes > UINT64_MAX - at ? UINT64_MAX : at + bytes;
  if (end > before) {
    if (const auto why = can_grow(call, o, end); !why.ok()) return why;
    if (const auto why = tell_linker(call, o, end); !why.ok()) return why;
  }
  const auto why = copy(call, o, at, nullptr, from, bytes, done);
  const std::string said = base::detail();
  const std::uint64_t reached = std::max(before, done != 0 ? at + done : 0);
  if (end > before && reached < end && o.head->grain != 0 && (o.head->can & QUIRE_LINK_TRUNCATE) != 0) {
    for_each_io(*o.head, [&](unsigned node) { (void)ask(node, io_order::set_end, o.number, reached); });
    (void)ask(o.head->home, io_order::tell_end, o.number, reached);
    set(o.head->announced, reached);
  }
  if (reached > before) set(o.head->bytes, reached);
  return why.ok() ? why : base::status(explain(why.code(), "%s", said.c_str()));
}

base::status container_service::write(quire_container c, std::uint64_t at, const void* buffer, std::size_t bytes,
                                      std::size_t& done) {
  constexpr const char* call = "quire_container_write";
  done = 0;
  base::status why;
  const opening_ptr o = find(call, c, why);
  if (o == nullptr) return why;
  if (why = check_writes(call, *o); !why.ok()) return why;
  if (buffer == nullptr && bytes != 0) return explain(QUIRE_INVALID, "%s(): the buffer is NULL", call);
  if (bytes == 0) return {};
  const auto* const from = static_cast<const std::byte*>(buffer);
  const std::uint64_t end = at > UINT64_MAX - bytes ? UINT64_MAX : at + bytes;
  if (end <= now(o->head->bytes)) {
    why = copy(call, *o, at, nullptr, from, bytes, done);
    if (!why.ok() || end <= now(o->head->bytes)) return why;  // else it was cut meanwhile
  }
  const locked guard(*o->head);
  if (!guard.why().ok()) return guard.why();
  return write_longer(call, *o, at, from, bytes, done);
}

base::status container_service::append(quire_container c, const void* buffer, std::size_t bytes, std::uint64_t& at) {
  constexpr const char* call = "quire_container_append";
  base::status why;
  const opening_ptr o = find(call, c, why);
  if (o == nullptr) return why;
  if (why = check_writes(call, *o); !why.ok()) return why;
  if (buffer == nullptr && bytes != 0) return explain(QUIRE_INVALID, "%s(): the buffer is NULL", call);
  const locked guard(*o->head);
  if (!guard.why().ok()) return guard.why();
  at = now(o->head->bytes);
  if (bytes == 0) return {};
  const std::uint64_t before = at;
  std::size_t done = 0;
  why = write_longer(call, *o, at, static_cast<const std::byte*>(buffer), bytes, done);
  if (!why.ok() && done != 0) {  // as a whole, or not at all
    const std::string said = base::detail();
    if (o->head->linked == 0 || (o->head->can & QUIRE_LINK_TRUNCATE) != 0) {
      (void)shrink(call, *o, before).ok();
    } else {
      set(o->head->bytes, before);
    }
    return explain(why.code(), "%s", said.c_str());
  }
  return why;
}

/// Under the mutex. First no call reads what goes; then it goes from memory, and at last the linker is told.
base::status container_service::shrink(const char* call, const opening& o, std::uint64_t bytes) {
  container_head& head = *o.head;
  const std::uint64_t before = now(head.bytes);
  if (head.linked != 0 && (head.can & QUIRE_LINK_TRUNCATE) == 0) {
    return explain(QUIRE_UNSUPPORTED,
                   "%s(): linker '%s' of container '%s' cannot make content shorter (QUIRE_LINK_TRUNCATE)", call,
                   head.linker, head.name);
  }
  set(head.bytes, bytes);
  base::status why;
  if (head.linked != 0) {
    const auto alone = nobody_pins(o);
    why = core_.stored.cut(o.base, bytes);
    if (why == QUIRE_BUSY) set(head.bytes, before);
    if (why == QUIRE_BUSY)
      return explain(QUIRE_BUSY, "%s(): some of container '%s' is pinned (quire_unpin())", call, head.name);
  } else {
    static constexpr std::byte zeroes[65536]{};
    for (std::uint64_t at = bytes; at < before;) {
      std::size_t done = 0;
      const std::size_t piece = std::min<std::uint64_t>(sizeof zeroes - at % sizeof zeroes, before - at);
      if (why = copy_plainly(call, o, at, nullptr, zeroes, piece, done); !why.ok()) return why;
      at += piece;
    }
    return {};
  }
  for_each_io(head, [&](unsigned node) { (void)ask(node, io_order::set_end, o.number, bytes); });
  set(head.announced, bytes);
  const answer got = cut_linker(o);
  if (!why.ok())
    return explain(why.code(), "%s(): some of container '%s' could not be read or written when it was cut", call,
                   head.name);
  if (got.why.ok()) return {};
  const char* const reason = got.a != 0 && got.a < 4096 ? std::strerror(static_cast<int>(got.a)) : "it gave no reason";
  return explain(QUIRE_IO, "%s(): linker '%s' cannot make the content of container '%s' shorter: %s", call, head.linker,
                 head.name, reason);
}

base::status container_service::truncate(quire_container c, std::uint64_t bytes) {
  constexpr const char* call = "quire_container_truncate";
  base::status why;
  const opening_ptr o = find(call, c, why);
  if (o == nullptr) return why;
  if (why = check_writes(call, *o); !why.ok()) return why;
  const locked guard(*o->head);
  if (!guard.why().ok()) return guard.why();
  const std::uint64_t before = now(o->head->bytes);
  return bytes >= before ? grow(call, *o, bytes) : shrink(call, *o, bytes);
}

// ---- Keeping

/// The nodes that do the I/O learn where the content ends, so that the linker's has that length.
base::status container_service::announce(const opening& o) {
  container_head& head = *o.head;
  if (head.grain != 0 || now(head.announced) >= now(head.bytes)) return {};
  const locked guard(head);  // nobody makes it shorter meanwhile
  if (!guard.why().ok()) return guard.why();
  const std::uint64_t end = now(head.bytes);
  base::status worst;
  for_each_io(head, [&](unsigned node) {
    if (const answer got = ask(node, io_order::note_end, o.number, end); worst.ok()) worst = got.why;
  });
  if (worst.ok()) set(head.announced, end);
  return worst;
}

base::status container_service::keep(const char* call, const opening& o, std::uint64_t at, std::uint64_t bytes) {
  if (o.head->linked == 0 || at >= o.capacity) return {};
  if (const auto why = announce(o); !why.ok()) return why;
  const std::uint64_t rest = o.capacity - at;
  base::status why;
  {
    const auto alone = nobody_pins(o);
    why = core_.stored.write_back(o.base + at, bytes == 0 ? rest : std::min(bytes, rest));
  }
  if (why == QUIRE_IO) {
    return explain(QUIRE_IO,
                   "%s(): linker '%s' has not taken all that was written to container '%s' (the node that writes '%s' "
                   "says why); it stays in memory",
                   call, o.head->linker, o.head->name, o.head->what);
  }
  if (why == QUIRE_BUSY)
    return explain(QUIRE_BUSY, "%s(): this node has pinned some of container '%s' (quire_unpin())", call, o.head->name);
  return why.ok() ? cut_beyond_end(call, o) : why;
}

/// What somebody has written by a mapping beyond the end may have been flushed, as nodes are not told of each growth:
/// it goes.
base::status container_service::cut_beyond_end(const char* call, const opening& o) {
  const container_head& head = *o.head;
  if (head.grain != 0 || head.read_only != 0 || (head.can & QUIRE_LINK_TRUNCATE) == 0) return {};
  const auto is_longer = [&] {
    std::uint64_t written = 0;
    for_each_io(head, [&](unsigned node) { written = std::max(written, ask(node, io_order::written, o.number, 0).a); });
    return written > now(head.bytes);
  };
  if (!is_longer()) return {};
  const locked guard(head);  // nobody makes it longer meanwhile
  if (!guard.why().ok()) return guard.why();
  return is_longer() ? shrink(call, o, now(head.bytes)) : base::status{};
}

base::status container_service::sync(quire_container c, std::uint64_t at, std::uint64_t bytes) {
  base::status why;
  const opening_ptr o = find("quire_container_sync", c, why);
  return o != nullptr ? keep("quire_container_sync", *o, at, bytes) : why;
}

base::status container_service::drop(quire_container c, std::uint64_t at, std::uint64_t bytes) {
  constexpr const char* call = "quire_container_drop";
  base::status why;
  const opening_ptr o = find(call, c, why);
  if (o == nullptr) return why;
  if (o->head->linked == 0)
    return explain(QUIRE_UNSUPPORTED, "%s(): container '%s' has its content in memory only", call, o->head->name);
  if (at >= o->capacity) return {};
  const std::uint64_t rest = o->capacity - at;
  const auto alone = nobody_pins(*o);
  why = core_.stored.drop(o->base + at, bytes == 0 ? rest : std::min(bytes, rest));
  if (why == QUIRE_BUSY)
    return explain(QUIRE_BUSY, "%s(): some of container '%s' is pinned (quire_unpin())", call, o->head->name);
  return why;
}

}  // namespace quire::api
