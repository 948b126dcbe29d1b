// SPDX-License-Identifier: BSD-3-Clause
// Shared memory as the standard library would have it: an allocator for containers, objects and arrays, names,
// regions, hints, and atomic operations done where the data is. Shared addresses are the same on every node, so
// pointers, spans and whole containers may lie in shared memory themselves.
//
// Any thread of any node may call, between the start and the end of the session. Calls throw quire::error; allocations
// throw std::bad_alloc when no memory is left.
#pragma once

#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <quire/error.hpp>
#include <quire/shareable.hpp>

namespace quire {

class region;

namespace detail {

/// What every allocation of quire_malloc() is aligned to.
inline constexpr std::size_t natural_alignment = 16;

[[nodiscard]] inline void* allocate(std::size_t bytes, std::size_t alignment, quire_region from = {}) {
  void* address = nullptr;
  if (bytes == 0) bytes = 1;
  if (alignment < natural_alignment) alignment = natural_alignment;
  check_memory(from.id != 0                     ? quire_region_malloc(from, alignment, bytes, &address)
               : alignment == natural_alignment ? quire_malloc(bytes, &address)
                                                : quire_aligned_alloc(alignment, bytes, &address),
               "allocate");
  return address;
}

/// Frees run in destructors, which cannot report. What can go wrong there is a pointer that is no allocation: a bug
/// that must not go on, so it ends the program with the status as its message. A lost job has no memory to give back.
inline void deallocate(void* address) noexcept {
  const quire_status status = quire_free(address);
  if (status != QUIRE_PEER_LOST) check(status, "free");
}

}  // namespace detail

/// The standard allocator of shared memory: `std::vector<int, quire::allocator<int>>`, or from a region that was made
/// with region_options::heap: `std::vector<int, quire::allocator<int>> v(quire::allocator<int>{region})`. What one node
/// allocated, any other may free, and whatever the region is: all allocators are equal. A container that is used by
/// several nodes must itself lie in shared memory (new_object()) and be guarded like any shared object. Elements that
/// cannot be shared do not compile (shareable.hpp).
template <class T>
class allocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;

  constexpr allocator() noexcept = default;
  constexpr explicit allocator(region from) noexcept;
  template <class U>
  constexpr allocator(const allocator<U>& other) noexcept
      : from_(other.native_region()) {}  // NOLINT: allocators convert into each other

  [[nodiscard]] T* allocate(std::size_t n) {
    detail::require_shareable<T>();
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(detail::allocate(n * sizeof(T), alignof(T), from_));
  }
  void deallocate(T* address, std::size_t) noexcept { detail::deallocate(address); }
  /// What containers make their elements with, which they allocate as parts of nodes of their own.
  template <class U, class... Arguments>
  constexpr void construct(U* place, Arguments&&... arguments) {
    detail::require_shareable<U>();
    std::construct_at(place, std::forward<Arguments>(arguments)...);
  }
  /// Where it allocates; zero: the heap of the job.
  [[nodiscard]] constexpr quire_region native_region() const noexcept { return from_; }
  template <class U>
  [[nodiscard]] friend constexpr bool operator==(const allocator&, const allocator<U>&) noexcept {
    return true;
  }

 private:
  quire_region from_{};
};

/// The same for std::pmr. Note that a pmr container keeps a pointer to its resource, which is private to a node: let
/// only the node that made the container change it, or use quire::allocator.
class memory_resource final : public std::pmr::memory_resource {
 public:
  memory_resource() noexcept = default;
  explicit memory_resource(const region& from) noexcept;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return detail::allocate(bytes, alignment, from_);
  }
  void do_deallocate(void* address, std::size_t, std::size_t) override { detail::deallocate(address); }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return dynamic_cast<const memory_resource*>(&other) != nullptr;
  }
  quire_region from_{};
};

/// Makes an object in shared memory. Types that cannot work there do not compile, as far as the compiler can find out
/// (shareable.hpp).
template <class T, class... Arguments>
[[nodiscard]] T* new_object(Arguments&&... arguments) {
  detail::require_shareable<T>();
  void* place = detail::allocate(sizeof(T), alignof(T));
  try {
    return ::new (place) T(std::forward<Arguments>(arguments)...);
  } catch (...) {
    detail::deallocate(place);
    throw;
  }
}

/// Destroys an object of new_object() and gives its memory back, from any node.
template <class T>
void delete_object(T* object) {
  if (object == nullptr) return;
  object->~T();
  detail::deallocate(object);
}

/// An array of `n` elements in shared memory, zero or value-initialised. Arrays of a page or more start on a page.
/// Memory of arithmetic types is not touched: its pages come to be where they are first used.
template <class T>
[[nodiscard]] std::span<T> make_shared_array(std::size_t n) {
  detail::require_shareable<T>();
  static_assert(std::is_trivially_destructible_v<T>, "use std::vector<T, quire::allocator<T>>");
  if (n == 0) return {};
  if constexpr (std::is_arithmetic_v<T> && alignof(T) <= detail::natural_alignment) {
    void* address = nullptr;
    detail::check_memory(quire_calloc(n, sizeof(T), &address), "make_shared_array");
    return {static_cast<T*>(address), n};
  } else {
    T* first = allocator<T>{}.allocate(n);
    std::uninitialized_value_construct_n(first, n);
    return {first, n};
  }
}

/// Gives back an array of make_shared_array(), from any node.
template <class T>
void free_shared_array(std::span<T> array) {
  detail::check(quire_free(array.data()), "free_shared_array");
}

// ---- Names ----------------------------------------------------------------------------------------------------------

/// Publishes a shared object under a name of at most 63 characters. errc::exists if the name is taken.
template <class T>
void publish(const std::string& name, T* object) {
  detail::check(quire_publish(name.c_str(), object), "publish");
}

/// What was published under `name`, as soon as it is there. The type must be the one that was published.
template <class T>
[[nodiscard]] T* lookup(const std::string& name) {
  void* address = nullptr;
  detail::check(quire_lookup(name.c_str(), detail::for_ever, &address), "lookup");
  return static_cast<T*>(address);
}

/// The same, but nullptr if nothing is published under `name` within `timeout`; zero does not wait.
template <class T, class Rep, class Period>
[[nodiscard]] T* lookup_for(const std::string& name, std::chrono::duration<Rep, Period> timeout) {
  void* address = nullptr;
  const quire_status status = quire_lookup(name.c_str(), detail::timeout_ms(timeout), &address);
  if (status == QUIRE_NOT_FOUND || !detail::in_time(status, "lookup_for")) return nullptr;
  return static_cast<T*>(address);
}

// ---- Hints ----------------------------------------------------------------------------------------------------------

enum class access { read = 0, write = 1 };

/// Starts to bring a range here, and does not wait.
template <class T, std::size_t Extent>
void prefetch(std::span<T, Extent> range, access wanted = access::read) {
  if (range.empty()) return;
  detail::check(quire_prefetch(range.data(), range.size_bytes(), wanted == access::write), "prefetch");
}

enum class advice { normal = QUIRE_NORMAL, will_write = QUIRE_WILL_WRITE };

/// What the threads of this node are going to do with a range: with will_write, a read brings a writable copy at once.
template <class T, std::size_t Extent>
void advise(std::span<T, Extent> range, advice given) {
  if (range.empty()) return;
  detail::check(quire_advise(range.data(), range.size_bytes(), static_cast<quire_advice>(given)), "advise");
}

/// Sends readable copies of a range to all nodes (Millipage, section 4.3), and waits until they have them.
template <class T, std::size_t Extent>
void push(std::span<T, Extent> range) {
  if (range.empty()) return;
  detail::check(quire_push(range.data(), range.size_bytes()), "push");
}

/// A production phase (KOAN): as long as it lives, `producer` writes the range; at its end all nodes get copies of what
/// was written. One thread of each node has one, at the same time; the end waits for all nodes.
class production {
 public:
  template <class T, std::size_t Extent>
  production(std::span<T, Extent> range, int producer) : bytes_(std::as_bytes(range)), producer_(producer) {
    if (!bytes_.empty()) detail::check(quire_produce_begin(bytes_.data(), bytes_.size(), producer_), "production");
  }
  production(const production&) = delete;
  production& operator=(const production&) = delete;
  ~production() {
    if (!bytes_.empty()) (void)quire_produce_end(bytes_.data(), bytes_.size(), producer_);
  }

 private:
  std::span<const std::byte> bytes_;
  int producer_;
};

// ---- Page locking
// -----------------------------------------------------------------------------------------------------

/// Keeps all pages under a range on this node, for writing, as long as it lives: other nodes that touch them wait
/// (KOAN's acquire and release; see quire_pin()). Threads of this node are not kept out.
class pinned_range {
 public:
  pinned_range() noexcept = default;
  /// Waits for the pages as long as it takes.
  template <class T, std::size_t Extent>
  explicit pinned_range(std::span<T, Extent> range) : bytes_(std::as_bytes(range)) {
    detail::check(quire_pin(bytes_.data(), bytes_.size(), detail::for_ever, nullptr), "pinned_range");
  }
  /// Waits for at most `timeout`; false in a condition if that was not enough, and holder() tells why.
  template <class T, std::size_t Extent, class Rep, class Period>
  pinned_range(std::span<T, Extent> range, std::chrono::duration<Rep, Period> timeout) : bytes_(std::as_bytes(range)) {
    const auto status = quire_pin(bytes_.data(), bytes_.size(), detail::timeout_ms(timeout), &holder_);
    if (!detail::in_time(status, "pinned_range")) bytes_ = {};
  }
  pinned_range(pinned_range&& from) noexcept
      : bytes_(std::exchange(from.bytes_, {})), holder_(std::exchange(from.holder_, -1)) {}
  pinned_range& operator=(pinned_range&& from) noexcept {
    pinned_range old(std::move(*this));
    bytes_ = std::exchange(from.bytes_, {});
    holder_ = std::exchange(from.holder_, -1);
    return *this;
  }
  /// A failure means that the pins are gone already: somebody released what was not theirs, or the job has ended.
  ~pinned_range() {
    if (!bytes_.empty()) (void)quire_unpin(bytes_.data(), bytes_.size());
  }

  [[nodiscard]] explicit operator bool() const noexcept { return !bytes_.empty(); }
  /// After a time-out: the node that has the first page missed, or -1 if it was released just then.
  [[nodiscard]] int holder() const noexcept { return holder_; }
  /// Ends the pins before the end of the scope.
  void release() {
    const auto bytes = std::exchange(bytes_, {});
    if (!bytes.empty()) detail::check(quire_unpin(bytes.data(), bytes.size()), "pinned_range::release");
  }

 private:
  std::span<const std::byte> bytes_{};
  int holder_ = -1;
};

// ---- Regions --------------------------------------------------------------------------------------------------------

enum class consistency { sequential = QUIRE_SEQUENTIAL, release = QUIRE_RELEASE, transactional = QUIRE_TRANSACTIONAL };
enum class placement {
  block = QUIRE_PLACE_BLOCK,
  modulo = QUIRE_PLACE_MODULO,
  node = QUIRE_PLACE_NODE,
  first_touch = QUIRE_PLACE_FIRST_TOUCH
};
enum class pool {
  standard = QUIRE_POOL_DEFAULT,
  memfd = QUIRE_POOL_MEMFD,
  file = QUIRE_POOL_FILE,
  posix = QUIRE_POOL_POSIX,
  sysv = QUIRE_POOL_SYSV,
  mdup = QUIRE_POOL_MDUP,
  fork = QUIRE_POOL_FORK,
};
enum class detector {
  standard = QUIRE_DETECT_DEFAULT,
  userfault = QUIRE_DETECT_USERFAULT,
  userfault_thread = QUIRE_DETECT_USERFAULT_THREAD,
  segv = QUIRE_DETECT_SEGV,
  scan = QUIRE_DETECT_SCAN,
};

/// Which minipages of a page a node brings together.
enum class grouping {
  none = QUIRE_GROUP_NONE,          ///< each by itself
  page = QUIRE_GROUP_PAGE,          ///< with all others of its page
  adaptive = QUIRE_GROUP_ADAPTIVE,  ///< with those that are used together, as experience says
};

/// How a region behaves; name what differs: `region::create(bytes, {.unit_bytes = 65536, .place = placement::modulo})`.
struct region_options {
  quire::consistency consistency = quire::consistency::sequential;
  std::size_t unit_bytes = 0;          ///< what moves as one: a power of two, 4 KiB to 2 MiB; 0: 4 KiB
  placement place = placement::block;  ///< homes and managers
  int home = 0;                        ///< the node, for placement::node
  quire::pool pool = quire::pool::standard;
  quire::detector detector = quire::detector::standard;
  bool heap =
      false;  ///< memory is allocated from it: quire::allocator, region::make(); it has no bytes() nor span() then
  bool orders = false;  ///< flags in it synchronise: who reads one sees what was written before into regions with
                        ///< release consistency
  std::size_t minipage_bytes = 0;  ///< not 0: units of so many bytes, below a page (minipages.hpp has arrays of them)
  int views = 0;  ///< of a heap, not 0: every allocation of at most 2,048 bytes is a unit of its own, seen in one of so
                  ///< many views
  int chunk = 0;  ///< of such a heap: so many allocations of one size are a unit together; 0: 1
  quire::grouping grouping =
      quire::grouping::none;  ///< of minipages: a fault on one may bring others of its page along
};

/// A range of shared addresses with one consistency. A handle, as those of sync.hpp; default-constructed it names the
/// region of the allocator. One node makes it and all may use it; it lasts until one destroys it, or the end of the
/// session.
class region {
 public:
  constexpr region() noexcept = default;
  /// A region of at least `bytes`, zero-filled and untouched.
  [[nodiscard]] static region create(std::uint64_t bytes, const region_options& options = {}) {
    const quire_region_options wanted{.size = sizeof(quire_region_options),
                                      .consistency = static_cast<quire_consistency>(options.consistency),
                                      .unit_bytes = options.unit_bytes,
                                      .placement = static_cast<quire_placement>(options.place),
                                      .home = options.home,
                                      .pool = static_cast<quire_pool>(options.pool),
                                      .detector = static_cast<quire_detector>(options.detector),
                                      .heap = options.heap ? 1 : 0,
                                      .orders = options.orders ? 1 : 0,
                                      .minipage_bytes = options.minipage_bytes,
                                      .views = options.views,
                                      .chunk = options.chunk,
                                      .grouping = static_cast<quire_grouping>(options.grouping)};
    region made;
    detail::check(quire_region_create(&wanted, bytes, &made.native_), "region::create");
    return made;
  }
  /// Its content, memory and addresses go on all nodes. Nobody uses it any more; one thread calls. errc::not_found,
  /// errc::busy while units are pinned, in a parallel block, while its consistency changes or a checkpoint is written;
  /// nothing has changed then.
  void destroy() const { detail::check(quire_region_destroy(native_), "region::destroy"); }
  /// Of a region with region_options::heap: an object in it, as of new_object(), which delete_object() gives back.
  template <class T, class... Arguments>
  [[nodiscard]] T* make(Arguments&&... arguments) const {
    detail::require_shareable<T>();
    void* place = detail::allocate(sizeof(T), alignof(T), native_);
    try {
      return ::new (place) T(std::forward<Arguments>(arguments)...);
    } catch (...) {
      detail::deallocate(place);
      throw;
    }
  }
  /// The same of an array, zero or value-initialised, which free_shared_array() gives back.
  template <class T>
  [[nodiscard]] std::span<T> make_array(std::size_t n) const;
  /// The region that an address belongs to; errc::bad_address if none.
  [[nodiscard]] static region of(const void* address) {
    region found;
    detail::check(quire_region_of(address, &found.native_), "region::of");
    return found;
  }
  /// All of it, as bytes.
  [[nodiscard]] std::span<std::byte> bytes() const {
    void* first = nullptr;
    std::uint64_t size = 0;
    detail::check(quire_region_range(native_, &first, &size), "region::bytes");
    return {static_cast<std::byte*>(first), size};
  }
  /// All of it, as elements of a type that needs no construction.
  template <class T>
  [[nodiscard]] std::span<T> span() const {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto all = bytes();
    return {reinterpret_cast<T*>(all.data()), all.size() / sizeof(T)};
  }
  /// Changes it for all nodes, of each of which one thread calls: a barrier. errc::invalid, errc::busy if some of it is
  /// pinned.
  void set_consistency(quire::consistency to) const {
    detail::check(quire_region_set_consistency(native_, static_cast<quire_consistency>(to)), "region::set_consistency");
  }
  /// A parallel block: until end_block() every node has copies of its own, which are merged then. One thread of each
  /// node calls. `check`: finds out whether nodes write the same bytes.
  void begin_block(bool check = false) const {
    detail::check(quire_block_begin(native_, check ? QUIRE_BLOCK_CHECK : 0), "region::begin_block");
  }
  /// In a block: of the units under `range` this node writes only what it declares, and nobody else writes that.
  template <class T>
  void declare(std::span<T> range) const {
    detail::check(quire_block_declare(range.data(), range.size_bytes()), "region::declare");
  }
  /// Two nodes that wrote one byte, if there were any in a block that is checked.
  std::optional<quire_overlap> end_block() const {
    quire_overlap overlap{};
    const quire_status status = quire_block_end(native_, &overlap);
    if (status == QUIRE_OVERLAP) return overlap;
    detail::check(status, "region::end_block");
    return std::nullopt;
  }
  [[nodiscard]] constexpr quire_region native_handle() const noexcept { return native_; }
  [[nodiscard]] friend bool operator==(region a, region b) noexcept { return a.native_.id == b.native_.id; }

 private:
  quire_region native_{};
};

template <class T>
constexpr allocator<T>::allocator(region from) noexcept : from_(from.native_handle()) {}
inline memory_resource::memory_resource(const region& from) noexcept : from_(from.native_handle()) {}
template <class T>
std::span<T> region::make_array(std::size_t n) const {
  detail::require_shareable<T>();
  static_assert(std::is_trivially_destructible_v<T>, "use std::vector<T, quire::allocator<T>>");
  if (n == 0) return {};
  T* const first = allocator<T>{*this}.allocate(n);
  std::uninitialized_value_construct_n(first, n);
  return {first, n};
}

// ---- Atomic operations ----------------------------------------------------------------------------------------------

/// Like std::atomic_ref, for a naturally aligned object of 1, 2, 4 or 8 bytes in shared memory: a changing operation is
/// done where the object is, so that a counter or a flag that many nodes change does not drag its page about.
/// Sequentially consistent with plain loads and stores. load() and store() are ordinary accesses, and bring the page
/// here. What is done to fewer than 8 bytes, and sums of reals, are compare-exchanges of the word that the object lies
/// in, as often as it takes: the bytes beside must not be written by plain stores of other nodes in a region with
/// release consistency.
template <class T>
class atomic_ref {
  static_assert((sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8) &&
                    std::is_trivially_copyable_v<T>,
                "Quire's atomic operations are on objects of 1, 2, 4 or 8 bytes");
  static constexpr bool is_word = sizeof(T) == sizeof(std::uint64_t);
  using bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
  static_assert(std::endian::native == std::endian::little);

 public:
  using value_type = T;
  explicit atomic_ref(T& object) noexcept : object_(&object) {}

  [[nodiscard]] T load() const noexcept { return std::atomic_ref<T>(*object_).load(); }
  void store(T value) const noexcept { std::atomic_ref<T>(*object_).store(value); }
  T exchange(T value) const {
    if constexpr (is_word) {
      std::uint64_t before = 0;
      detail::check(quire_exchange(word(), std::bit_cast<std::uint64_t>(value), &before), "atomic_ref::exchange");
      return std::bit_cast<T>(before);
    } else {
      return update([value](T) { return value; });
    }
  }
  bool compare_exchange(T& expected, T desired) const {
    std::uint64_t seen = with_part(guess(), expected);
    for (;;) {
      if (const T here = part_of(seen); std::bit_cast<bits>(here) != std::bit_cast<bits>(expected)) {
        expected = here;
        return false;
      }
      if (swap(seen, with_part(seen, desired), "atomic_ref::compare_exchange")) return true;
    }
  }
  T fetch_add(T value) const requires std::is_arithmetic_v<T> {
    if constexpr (is_word && std::is_integral_v<T>) {
      std::uint64_t before = 0;
      detail::check(quire_fetch_add(word(), static_cast<std::uint64_t>(value), &before), "atomic_ref::fetch_add");
      return static_cast<T>(before);
    } else {
      return update([value](T here) { return static_cast<T>(here + value); });
    }
  }
  T fetch_sub(T value) const requires std::is_arithmetic_v<T> {
    if constexpr (std::is_integral_v<T>)
      return fetch_add(static_cast<T>(0 - static_cast<std::uint64_t>(value)));
    else
      return fetch_add(-value);
  }
  /// The object becomes change(object), at once; change() may be called several times. What it was before.
  template <class Change>
  requires std::is_invocable_r_v<T, Change&, T> T update(Change&& change)
  const {
    std::uint64_t seen = guess();
    for (;;) {
      const T before = part_of(seen);
      if (swap(seen, with_part(seen, change(before)), "atomic_ref::update")) return before;
    }
  }

 private:
  [[nodiscard]] std::uint64_t address() const noexcept { return reinterpret_cast<std::uint64_t>(object_); }
  [[nodiscard]] std::uint64_t* word() const noexcept {
    return reinterpret_cast<std::uint64_t*>(address() & ~std::uint64_t{7});
  }
  [[nodiscard]] unsigned shift() const noexcept { return static_cast<unsigned>(address() % 8) * 8; }
  /// What the word may be: the first compare-exchange tells. Nothing is read here, as that would bring the page.
  [[nodiscard]] std::uint64_t guess() const noexcept { return 0; }
  [[nodiscard]] T part_of(std::uint64_t whole) const noexcept {
    return std::bit_cast<T>(static_cast<bits>(whole >> shift()));
  }
  [[nodiscard]] std::uint64_t with_part(std::uint64_t whole, T part) const noexcept {
    const std::uint64_t mask = std::uint64_t{static_cast<bits>(~bits{0})} << shift();
    return (whole & ~mask) | std::uint64_t{std::bit_cast<bits>(part)} << shift();
  }
  /// `seen` becomes what is there.
  bool swap(std::uint64_t& seen, std::uint64_t desired, const char* call) const {
    int done = 0;
    detail::check(quire_compare_exchange(word(), &seen, desired, &done), call);
    return done != 0;
  }
  T* object_;
};

}  // namespace quire
