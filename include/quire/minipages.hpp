// SPDX-License-Identifier: BSD-3-Clause
// Sharing below a page (Millipage: MultiView): arrays whose elements, and heaps whose objects, move between nodes one
// by one, though several lie on a page.
//
// Any thread of any node may call, between the start and the end of the session. Calls throw quire::error; allocations
// throw std::bad_alloc when no memory is left.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

#include <quire/memory.hpp>

namespace quire {

/// An array in shared memory, each element of which is a sharing unit of its own: nodes that use different elements
/// never wait for each other. Elements of at most 2,048 bytes share pages; larger ones take whole pages. An element's
/// address is where it moves by itself; natural() is where the pages of the array are contiguous, for loops that use
/// all elements in turn: there, a page's elements come together.
///
/// A handle, as quire::region: trivially copyable, and the same on every node. One node makes the array, and tells the
/// others: in shared memory, by quire::publish() of its region's range, or as what broadcast() carries. Elements are
/// zero at first; they are not constructed, and must not need it. Any thread.
template <class T>
class minipage_array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "elements lie in shared memory as they are");
  static constexpr std::uint64_t page = 4096, largest = page / 2;

 public:
  /// From the beginning of one element to that of the next on its page.
  static constexpr std::uint64_t element_bytes =
      sizeof(T) <= largest ? (sizeof(T) + 15) / 16 * 16 : (sizeof(T) + page - 1) / page * page;
  static constexpr std::uint64_t elements_a_page = sizeof(T) <= largest ? page / element_bytes : 1;
  static_assert(alignof(T) <= 16 || element_bytes % alignof(T) == 0, "elements would not be aligned");

  class iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;
    iterator() = default;
    iterator(const minipage_array& of, std::size_t at) noexcept : of_(of), at_(at) {}
    reference operator*() const noexcept { return of_[at_]; }
    pointer operator->() const noexcept { return &of_[at_]; }
    reference operator[](difference_type n) const noexcept { return of_[at_ + static_cast<std::size_t>(n)]; }
    iterator& operator++() noexcept { return ++at_, *this; }
    iterator& operator--() noexcept { return --at_, *this; }
    iterator operator++(int) noexcept { return iterator(of_, at_++); }
    iterator operator--(int) noexcept { return iterator(of_, at_--); }
    iterator& operator+=(difference_type n) noexcept { return at_ += static_cast<std::size_t>(n), *this; }
    iterator& operator-=(difference_type n) noexcept { return at_ -= static_cast<std::size_t>(n), *this; }
    friend iterator operator+(iterator i, difference_type n) noexcept { return i += n; }
    friend iterator operator+(difference_type n, iterator i) noexcept { return i += n; }
    friend iterator operator-(iterator i, difference_type n) noexcept { return i -= n; }
    friend difference_type operator-(const iterator& a, const iterator& b) noexcept {
      return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.at_ == b.at_; }
    friend auto operator<=>(const iterator& a, const iterator& b) noexcept { return a.at_ <=> b.at_; }

   private:
    minipage_array of_{};
    std::size_t at_ = 0;
  };

  constexpr minipage_array() noexcept = default;
  /// Makes an array of `n` elements in a region of its own; `options`: its consistency, placement, pool and detector.
  /// errc::invalid for 0 elements, errc::no_addresses.
  [[nodiscard]] static minipage_array create(std::size_t n, region_options options = {}) {
    options.heap = false;
    options.minipage_bytes = sizeof(T) <= largest ? element_bytes : 0;
    const std::uint64_t pages = (n + elements_a_page - 1) / elements_a_page;
    const std::uint64_t each = sizeof(T) <= largest ? page : element_bytes;
    detail::check(pages > ~std::uint64_t{0} / each ? QUIRE_NO_ADDRESSES : QUIRE_OK, "minipage_array::create");
    return minipage_array(region::create(pages * each, options), n);
  }
  /// The same array on another node: of the region that create() made there.
  minipage_array(const region& in, std::size_t n) : base_(in.bytes().data()), size_(n) {
    void* fine = base_;
    if constexpr (sizeof(T) <= largest) detail::check(quire_view(base_, QUIRE_FINE, &fine), "minipage_array");
    stride_ = static_cast<std::uint64_t>(static_cast<std::byte*>(fine) - base_);
  }
  /// All that it was is gone, on all nodes; as region::destroy().
  void destroy() const { native_region().destroy(); }

  /// Element `i`, where it moves by itself.
  [[nodiscard]] T& operator[](std::size_t i) const noexcept {
    const std::uint64_t slot = i % elements_a_page;
    return *std::launder(reinterpret_cast<T*>(place(i) + (slot + 1) * stride_));
  }
  /// Where it is in the natural view: with it, all elements of its page move.
  [[nodiscard]] T& natural(std::size_t i) const noexcept { return *std::launder(reinterpret_cast<T*>(place(i))); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] iterator begin() const noexcept { return {*this, 0}; }
  [[nodiscard]] iterator end() const noexcept { return {*this, size_}; }
  [[nodiscard]] region native_region() const { return region::of(base_); }

 private:
  [[nodiscard]] std::byte* place(std::size_t i) const noexcept {
    if constexpr (sizeof(T) > largest) return base_ + i * element_bytes;
    return base_ + i / elements_a_page * page + i % elements_a_page * element_bytes;
  }
  std::byte* base_ = nullptr;
  std::uint64_t stride_ = 0;
  std::size_t size_ = 0;
};

// ---- Heaps
// --------------------------------------------------------------------------------------------------------------

struct minipage_options {
  int views = 16;  ///< as many objects of a page can be sharing units of their own, 1 to 256: smaller ones take that
                   ///< part of a page
  int chunk = 1;   ///< so many objects of one size share a sharing unit
  placement place = placement::block;                ///< managers
  int home = 0;                                      ///< the node, for placement::node
  quire::grouping grouping = quire::grouping::none;  ///< a fault on one object may bring others of its page along
};

/// A heap of minipages. A handle, as region is: one node makes it and all may use it.
class minipage_heap {
 public:
  constexpr minipage_heap() noexcept = default;
  /// With at least `bytes` for objects. It takes addresses for each of its views, and memory for what is used.
  [[nodiscard]] static minipage_heap create(std::uint64_t bytes, const minipage_options& options = {}) {
    minipage_heap made;
    made.region_ = region::create(bytes, {.place = options.place,
                                          .home = options.home,
                                          .heap = true,
                                          .views = options.views,
                                          .chunk = options.chunk,
                                          .grouping = options.grouping});
    return made;
  }
  /// All that was allocated from it is gone, as with region::destroy().
  void destroy() const { region_.destroy(); }

  /// An object of its own sharing unit, if it has at most 2048 bytes; else it has pages of its own.
  template <class T, class... Arguments>
  [[nodiscard]] T* make(Arguments&&... arguments) const {
    return region_.make<T>(std::forward<Arguments>(arguments)...);
  }
  /// Destroys an object of make() and gives its memory back, from any node.
  template <class T>
  void free(T* object) const {
    delete_object(object);
  }

  /// From now on so many objects of one size share a sharing unit of what this node allocates.
  void set_chunk(unsigned objects) const {
    detail::check(quire_region_set_chunk(native_handle(), objects), "minipage_heap::set_chunk");
  }

  constexpr operator region() const noexcept { return region_; }  // NOLINT: it is one
  [[nodiscard]] constexpr quire_region native_handle() const noexcept { return region_.native_handle(); }
  [[nodiscard]] friend bool operator==(minipage_heap a, minipage_heap b) noexcept { return a.region_ == b.region_; }

 private:
  region region_{};
};

/// The allocator of such a heap: `using a = quire::minipage_allocator<std::pair<const int, int>>; std::map<int, int,
/// std::less<int>, a> m(a{heap})`. Each node of a list or map is a sharing unit of its own then. It is
/// quire::allocator: containers of both kinds convert into each other.
template <class T>
using minipage_allocator = allocator<T>;

}  // namespace quire
