// SPDX-License-Identifier: BSD-3-Clause
// Heaps whose objects nobody frees, for C++: a thin layer over <quire/gc.h>, which says what a heap is and when it is
// collected.
//
//     struct node {
//       int value = 0;
//       quire::gc::ref<node> left, right;
//       QUIRE_GC_FIELDS(node, left, right)
//     };
//     auto heap = quire::gc::heap::create_or_open("trees", 64 << 20);
//     auto tree = heap.root<node>("tree");
//     tree = heap.make<node>();                 // on any node; by the others it is found by the root's name
//     ...
//     heap.collect();                           // all nodes; whatever no root leads to is free
//
// A reference (gc::ref) is a plain pointer. References to objects that are to stay lie in fields that QUIRE_GC_FIELDS
// names, in arrays of references, or in roots. References elsewhere, on stacks say, do not keep an object over a
// collection. Destructors do not run, so types have none. Errors are exceptions of type quire::error; std::bad_alloc
// when the heap is full.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <quire/error.hpp>
#include <quire/gc.h>
#include <quire/shareable.hpp>

namespace quire::gc {

/// Refers to an object of a heap, or to none: 8 bytes, a plain pointer.
template <class T>
class ref {
 public:
  using element_type = T;
  constexpr ref() noexcept = default;
  constexpr ref(std::nullptr_t) noexcept {}  // NOLINT: as a pointer
  constexpr explicit ref(T* object) noexcept : object_(object) {}
  [[nodiscard]] constexpr T* get() const noexcept { return object_; }
  constexpr T& operator*() const noexcept { return *object_; }
  constexpr T* operator->() const noexcept { return object_; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return object_ != nullptr; }
  [[nodiscard]] friend constexpr bool operator==(const ref&, const ref&) noexcept = default;

 private:
  T* object_ = nullptr;
};

/// Refers to an array of heap::make_array(), or to none.
template <class T>
class ref<T[]> {
 public:
  using element_type = T;
  constexpr ref() noexcept = default;
  constexpr ref(std::nullptr_t) noexcept {}  // NOLINT: as a pointer
  constexpr explicit ref(T* first) noexcept : first_(first) {}
  [[nodiscard]] constexpr T* get() const noexcept { return first_; }
  constexpr T& operator[](std::size_t i) const noexcept { return first_[i]; }
  /// Elements; it is read from the array's header. 0 of none.
  [[nodiscard]] std::size_t size() const noexcept {
    constexpr unsigned type_bits = 16;
    return first_ == nullptr ? 0 : *(reinterpret_cast<const std::uint64_t*>(first_) - 1) >> type_bits;
  }
  [[nodiscard]] std::span<T> span() const noexcept { return {first_, size()}; }
  [[nodiscard]] T* begin() const noexcept { return first_; }
  [[nodiscard]] T* end() const noexcept { return first_ + size(); }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return first_ != nullptr; }
  [[nodiscard]] friend constexpr bool operator==(const ref&, const ref&) noexcept = default;

 private:
  T* first_ = nullptr;
};

namespace detail {

template <class F>
inline constexpr bool is_ref = false;
template <class T>
inline constexpr bool is_ref<ref<T>> = true;
template <class F>
inline constexpr bool is_std_array = false;
template <class T, std::size_t N>
inline constexpr bool is_std_array<std::array<T, N>> = true;
/// Has QUIRE_GC_FIELDS of its own, not of a base.
template <class F>
concept described = std::is_same_v<typename F::quire_gc_type, F>;

/// References in a field: a reference, a described type, an array of such.
template <class F>
consteval std::size_t references_in() {
  if constexpr (is_ref<F>) {
    return 1;
  } else if constexpr (std::is_array_v<F>) {
    return std::extent_v<F> * references_in<std::remove_extent_t<F>>();
  } else if constexpr (is_std_array<F>) {
    return std::tuple_size_v<F> * references_in<typename F::value_type>();
  } else if constexpr (described<F>) {
    return F::quire_gc_fields().size();
  } else {
    static_assert(
        is_ref<F>,
        "QUIRE_GC_FIELDS names a field that is no gc::ref, no array of them, and no type with QUIRE_GC_FIELDS");
    return 0;
  }
}
template <class F, std::size_t N>
constexpr void add_references(std::array<std::uint32_t, N>& to, std::size_t& count, std::size_t offset) {
  if constexpr (is_ref<F>) {
    to[count++] = static_cast<std::uint32_t>(offset);
  } else if constexpr (std::is_array_v<F>) {
    using element = std::remove_extent_t<F>;
    for (std::size_t i = 0; i < std::extent_v<F>; ++i) add_references<element>(to, count, offset + i * sizeof(element));
  } else if constexpr (is_std_array<F>) {
    using element = typename F::value_type;
    for (std::size_t i = 0; i < std::tuple_size_v<F>; ++i)
      add_references<element>(to, count, offset + i * sizeof(element));
  } else if constexpr (described<F>) {
    for (const std::uint32_t inner : F::quire_gc_fields()) to[count++] = static_cast<std::uint32_t>(offset + inner);
  }
}
/// Offsets of all references in fields of these types at these offsets, in ascending order.
template <class... F>
constexpr auto references_of([[maybe_unused]] std::array<std::size_t, sizeof...(F)> offsets) {
  std::array<std::uint32_t, (references_in<F>() + ... + 0)> all{};
  std::size_t count = 0;
  [[maybe_unused]] std::size_t field = 0;
  (add_references<F>(all, count, offsets[field++]), ...);
  for (std::size_t i = 1; i < count; ++i)
    for (std::size_t j = i; j > 0 && all[j] < all[j - 1]; --j) std::swap(all[j], all[j - 1]);
  return all;
}

/// References in an element of a heap.
template <class T>
constexpr auto references() {
  if constexpr (is_ref<T>) {
    return std::array<std::uint32_t, 1>{};
  } else if constexpr (std::is_class_v<T> && described<T>) {
    return T::quire_gc_fields();
  } else if constexpr (std::is_class_v<T>) {
    static_assert(is_ref<T>,
                  "types of objects in a garbage-collected heap say where their references are: QUIRE_GC_FIELDS(type, "
                  "fields...), without "
                  "fields if there are none");
    return std::array<std::uint32_t, 0>{};
  } else {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>,
                  "plain pointers in a garbage-collected heap keep nothing: use gc::ref");
    return std::array<std::uint32_t, 0>{};
  }
}

template <class T>
consteval void require_collectable() {
  quire::detail::require_shareable<T>();
  static_assert(std::is_trivially_destructible_v<T>, "a collection runs no destructors");
  static_assert(alignof(T) <= 16, "objects are aligned to 16 bytes");
  static_assert(!std::is_const_v<T> && !std::is_array_v<T>, "elements of make_array() are no arrays, nor const");
}

/// The name by which nodes know the type: as the compiler writes it, cut where it is long, with a sum of all of it
/// then.
template <class T>
std::string name_of() {
  const std::string_view whole = quire::detail::name_of_type<T>();
  const std::string_view name =
      whole.substr(0, std::min(whole.rfind("; std::string_view = "), whole.size() - 1));  // GCC; Clang
  constexpr std::size_t longest = 63, kept = 46;
  if (name.size() <= longest) return std::string(name);
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (const char c : name) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  std::string text(name.substr(0, kept));
  text += '~';
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[sum >> shift & 15];
  return text;
}

/// Its number in a heap.
template <class T>
std::uint32_t number_in(quire_gc_heap heap) {
  constexpr unsigned number_bits = 12;
  static std::atomic<std::uint64_t> last{0};  // heap and number together
  const std::uint64_t known = last.load(std::memory_order_relaxed);
  if (known >> number_bits == heap.id) [[likely]]
    return static_cast<std::uint32_t>(known & ((1u << number_bits) - 1));
  static constexpr auto offsets = references<T>();
  std::uint32_t number = 0;
  quire::detail::check(quire_gc_type(heap, name_of<T>().c_str(), sizeof(T), offsets.data(),
                                     static_cast<std::uint32_t>(offsets.size()), &number),
                       "gc::make");
  last.store(heap.id << number_bits | number, std::memory_order_relaxed);
  return number;
}

inline std::atomic<std::uint64_t> usual_heap{0};

}  // namespace detail

/// A reference with a name, in shared memory: what it leads to stays. Roots of one name are the same on all nodes.
template <class T>
class root {
 public:
  using element_type = typename ref<T>::element_type;
  explicit root(ref<T>* at) noexcept : at_(at) {}
  root& operator=(ref<T> to) noexcept {
    *at_ = to;
    return *this;
  }
  [[nodiscard]] ref<T> get() const noexcept { return *at_; }
  operator ref<T>() const noexcept { return *at_; }  // NOLINT: as the reference
  element_type* operator->() const noexcept { return at_->get(); }
  element_type& operator*() const noexcept requires(!std::is_array_v<T>) { return **at_; }
  element_type& operator[](std::size_t i) const noexcept requires(std::is_array_v<T>) { return (*at_)[i]; }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(*at_); }

 private:
  ref<T>* at_;
};

/// How a heap behaves; name what differs.
struct heap_options {
  quire_consistency consistency = QUIRE_SEQUENTIAL;
  std::size_t unit_bytes = 0;  ///< what moves as one: a power of two, 4 KiB to 2 MiB; 0: 4 KiB
};

/// A heap. A handle: copies are the same heap, on any node. Default-constructed it is none.
class heap {
 public:
  constexpr heap() noexcept = default;
  constexpr explicit heap(quire_gc_heap native) noexcept : native_(native) {}
  /// A heap for so many bytes of objects. One thread of any node. The first one of a process is the one of gc::make().
  [[nodiscard]] static heap create(std::uint64_t bytes, const heap_options& options = {}) {
    return create_named(nullptr, bytes, options);
  }
  /// The same with a name, of at most 54 characters, by which others find it. errc::exists.
  [[nodiscard]] static heap create(const std::string& name, std::uint64_t bytes, const heap_options& options = {}) {
    return create_named(name.c_str(), bytes, options);
  }
  /// The heap of a name, as soon as it is there.
  [[nodiscard]] static heap open(const std::string& name) {
    heap found;
    quire::detail::check(quire_gc_open(name.c_str(), quire::detail::for_ever, &found.native_), "gc::heap::open");
    found.use_first();
    return found;
  }
  /// One thread of each node calls: node 0 makes the heap, the others find it.
  [[nodiscard]] static heap create_or_open(const std::string& name, std::uint64_t bytes,
                                           const heap_options& options = {}) {
    return quire_node() == 0 ? create(name, bytes, options) : open(name);
  }
  /// gc::make() takes this heap from now on, in this process.
  void use() const noexcept { detail::usual_heap.store(native_.id, std::memory_order_relaxed); }
  /// All of it goes. Nobody uses it any more; one thread of any node calls.
  void destroy() const {
    std::uint64_t mine = native_.id;
    detail::usual_heap.compare_exchange_strong(mine, 0);
    quire::detail::check(quire_gc_destroy(native_), "gc::heap::destroy");
  }

  /// An object. It must be reachable by the next collection.
  template <class T, class... Arguments>
  requires(!std::is_array_v<T>) [[nodiscard]] ref<T> make(Arguments&&... arguments) const {
    detail::require_collectable<T>();
    return ref<T>(::new (allocate<T>(1)) T(std::forward<Arguments>(arguments)...));
  }
  /// An array of `n` elements, zero or value-initialised. errc::invalid for none, or more than there can be.
  template <class T>
  [[nodiscard]] ref<T[]> make_array(std::size_t n) const {
    detail::require_collectable<T>();
    T* const first = static_cast<T*>(allocate<T>(n));
    if constexpr (!std::is_arithmetic_v<T> && !detail::is_ref<T>)
      std::uninitialized_value_construct_n(first, n);  // else it is zero already
    return ref<T[]>(first);
  }
  /// The root of a name, of at most 63 characters; null at first. Of one name and two types: undefined.
  template <class T>
  [[nodiscard]] root<T> root(const std::string& name) const {
    void** at = nullptr;
    quire::detail::check(quire_gc_root(native_, name.c_str(), &at), "gc::heap::root");
    return gc::root<T>(reinterpret_cast<ref<T>*>(at));
  }
  /// One thread of each node calls: quire_gc_collect().
  quire_gc_statistics collect() const {
    quire_gc_statistics result{};
    result.size = sizeof result;
    quire::detail::check(quire_gc_collect(native_, &result), "gc::heap::collect");
    return result;
  }
  /// A hint: threads of this node write this object, of which other nodes use neighbours. quire_gc_note_written().
  template <class T>
  void note_written(const T& object) const {
    quire::detail::check(quire_gc_note_written(native_, &object, sizeof object), "gc::heap::note_written");
  }
  /// Bytes that this node's part has in use, as far as it knows: what was not collected is in use.
  [[nodiscard]] std::uint64_t used_bytes() const {
    std::uint64_t used = 0;
    quire::detail::check(quire_gc_usage(native_, &used, nullptr), "gc::heap::used_bytes");
    return used;
  }
  [[nodiscard]] constexpr quire_gc_heap native_handle() const noexcept { return native_; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return native_.id != 0; }
  [[nodiscard]] friend bool operator==(heap a, heap b) noexcept { return a.native_.id == b.native_.id; }

 private:
  static heap create_named(const char* name, std::uint64_t bytes, const heap_options& options) {
    quire_gc_options wanted{};
    wanted.size = sizeof wanted;
    wanted.consistency = options.consistency;
    wanted.unit_bytes = options.unit_bytes;
    wanted.name = name;
    heap made;
    quire::detail::check(quire_gc_create(&wanted, bytes, &made.native_), "gc::heap::create");
    made.use_first();
    return made;
  }
  void use_first() const noexcept {
    std::uint64_t none = 0;
    detail::usual_heap.compare_exchange_strong(none, native_.id);
  }
  template <class T>
  [[nodiscard]] void* allocate(std::size_t n) const {
    void* object = nullptr;
    quire::detail::check_memory(quire_gc_allocate(native_, detail::number_in<T>(native_), n, &object), "gc::make");
    return object;
  }
  quire_gc_heap native_{};
};

/// In the heap that this process has made or opened first, or said to use.
template <class T, class... Arguments>
[[nodiscard]] ref<T> make(Arguments&&... arguments) {
  return heap(quire_gc_heap{detail::usual_heap.load(std::memory_order_relaxed)})
      .make<T>(std::forward<Arguments>(arguments)...);
}
template <class T>
[[nodiscard]] ref<T[]> make_array(std::size_t n) {
  return heap(quire_gc_heap{detail::usual_heap.load(std::memory_order_relaxed)}).make_array<T>(n);
}
/// One thread of each node calls.
inline quire_gc_statistics collect(heap of) { return of.collect(); }

}  // namespace quire::gc

// Up to 340 fields.
#define QUIRE_GC_PARENTHESES ()
#define QUIRE_GC_EXPAND(...) QUIRE_GC_EXPAND3(QUIRE_GC_EXPAND3(QUIRE_GC_EXPAND3(QUIRE_GC_EXPAND3(__VA_ARGS__))))
#define QUIRE_GC_EXPAND3(...) QUIRE_GC_EXPAND2(QUIRE_GC_EXPAND2(QUIRE_GC_EXPAND2(QUIRE_GC_EXPAND2(__VA_ARGS__))))
#define QUIRE_GC_EXPAND2(...) QUIRE_GC_EXPAND1(QUIRE_GC_EXPAND1(QUIRE_GC_EXPAND1(QUIRE_GC_EXPAND1(__VA_ARGS__))))
#define QUIRE_GC_EXPAND1(...) __VA_ARGS__
#define QUIRE_GC_EACH(macro, ...) __VA_OPT__(QUIRE_GC_EXPAND(QUIRE_GC_NEXT(macro, __VA_ARGS__)))
#define QUIRE_GC_NEXT(macro, first, ...) \
  macro(first) __VA_OPT__(, QUIRE_GC_AGAIN QUIRE_GC_PARENTHESES(macro, __VA_ARGS__))
#define QUIRE_GC_AGAIN() QUIRE_GC_NEXT
#define QUIRE_GC_TYPE_OF(field) decltype(quire_gc_type::field)
#define QUIRE_GC_OFFSET_OF(field) offsetof(quire_gc_type, field)

/// Within a class: its fields with references. Each is a gc::ref, an array of them, or of a type with QUIRE_GC_FIELDS
/// of its own. A class whose base has some names those of the base, too.
#define QUIRE_GC_FIELDS(type, ...)                                                                              \
  using quire_gc_type = type;                                                                                   \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Winvalid-offsetof\"") static constexpr auto \
  quire_gc_fields() {                                                                                           \
    return ::quire::gc::detail::references_of<QUIRE_GC_EACH(QUIRE_GC_TYPE_OF, __VA_ARGS__)>(                    \
        {QUIRE_GC_EACH(QUIRE_GC_OFFSET_OF, __VA_ARGS__)});                                                      \
  }                                                                                                             \
  _Pragma("GCC diagnostic pop")
