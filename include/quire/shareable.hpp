// SPDX-License-Identifier: BSD-3-Clause
// Which types may lie in memory that several nodes share. What keeps its content or its threads in private memory
// (std::mutex, std::vector<int>, virtual functions) compiles and runs on one node, and is wrong on two: new_object(),
// make_shared_array() and quire::allocator refuse it when the program is compiled. Found are such types themselves, as
// members of aggregates (up to 16, at any depth), as elements of arrays, pairs and tuples, and as what a container with
// quire::allocator makes; members of classes with constructors or private members, and beside references, are not.
//
// For a type of which you know better:
//
//     template <> inline constexpr bool quire::is_shareable<my_type> = true;   // before its first use; false refuses
//     it
//
// Compile time alone; nothing here is called.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace quire {
namespace detail {

/// What keeps a type out of shared memory.
enum class obstacle {
  none,
  mutex,
  shared_mutex,
  condition,
  barrier,
  semaphore,
  thread,
  container,
  pointer,
  function,
  virtual_functions,
  declared
};

template <class T>
consteval obstacle obstacle_of();

}  // namespace detail

/// Whether objects of a type work on all nodes, as far as the compiler can find out. Specialise it for types of your
/// own.
template <class T>
inline constexpr bool is_shareable = detail::obstacle_of<T>() == detail::obstacle::none;

namespace detail {

template <class T>
consteval std::string_view name_of_type() {
  std::string_view name = __PRETTY_FUNCTION__;
  return name.substr(name.find("T = ") + 4);
}

/// By the name, so that <mutex>, <thread> and others need not be included.
template <class T>
consteval obstacle obstacle_by_name() {
  struct row {
    std::string_view name;
    obstacle is;
  };
  constexpr row rows[] = {{"mutex", obstacle::mutex},
                          {"timed_mutex", obstacle::mutex},
                          {"recursive_mutex", obstacle::mutex},
                          {"recursive_timed_mutex", obstacle::mutex},
                          {"shared_mutex", obstacle::shared_mutex},
                          {"shared_timed_mutex", obstacle::shared_mutex},
                          {"condition_variable", obstacle::condition},
                          {"condition_variable_any", obstacle::condition},
                          {"barrier", obstacle::barrier},
                          {"latch", obstacle::barrier},
                          {"counting_semaphore", obstacle::semaphore},
                          {"thread", obstacle::thread},
                          {"jthread", obstacle::thread},
                          {"shared_ptr", obstacle::pointer},
                          {"weak_ptr", obstacle::pointer},
                          {"function", obstacle::function},
                          {"move_only_function", obstacle::function}};
  std::string_view name = name_of_type<T>();
  if (!name.starts_with("std::")) return obstacle::none;
  name.remove_prefix(5);
  while (name.starts_with("_") && name.find("::") < name.find_first_of("<;]"))
    name.remove_prefix(name.find("::") + 2);  // versions: std::__cxx11::
  name = name.substr(0, name.find_first_of("<;],: "));
  for (const row& r : rows) {
    if (name == r.name) return r.is;
  }
  return obstacle::none;
}

template <class T>
inline constexpr bool is_private_pointer = false;
template <class T>
inline constexpr bool is_private_pointer<std::unique_ptr<T, std::default_delete<T>>> = true;

template <class T>
inline constexpr bool is_standard_allocator = false;
template <class T>
inline constexpr bool is_standard_allocator<std::allocator<T>> = true;

template <class T>
concept private_container = is_standard_allocator<typename T::allocator_type>;

/// Becomes any member of an aggregate.
struct any_member {
  template <class U>
  operator U() const noexcept;  // NOLINT
};
/// Becomes a member that is not shareable, because of `Why` (none: of whatever).
template <obstacle Why>
struct refused_member {
  template <class U>
  requires(!is_shareable<U> && (Why == obstacle::none || obstacle_of<U>() == Why)) operator U()
      const noexcept;  // NOLINT
};
/// Becomes a member that is declared to be shareable although it would be refused. Without it the members of such a
/// member would be seen, as braces around them may be left out.
struct declared_member {
  template <class U>
  requires(is_shareable<U>&& obstacle_of<U>() != obstacle::none) operator U() const noexcept;  // NOLINT
};
template <std::size_t>
using any_member_at = any_member;

/// Where all members can be made of {}: each {} is one, arrays too.
template <class T, class P, std::size_t At>
consteval bool takes_after_defaults() {
  if constexpr (At == 0) return requires {
      T{P{}};
    };
  if constexpr (At == 1) return requires {
      T{{}, P{}};
    };
  if constexpr (At == 2) return requires {
      T{{}, {}, P{}};
    };
  if constexpr (At == 3) return requires {
      T{{}, {}, {}, P{}};
    };
  if constexpr (At == 4) return requires {
      T{{}, {}, {}, {}, P{}};
    };
  if constexpr (At == 5) return requires {
      T{{}, {}, {}, {}, {}, P{}};
    };
  if constexpr (At == 6) return requires {
      T{{}, {}, {}, {}, {}, {}, P{}};
    };
  if constexpr (At == 7) return requires {
      T{{}, {}, {}, {}, {}, {}, {}, P{}};
    };
  if constexpr (At == 8) return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, P{}};
    };
  if constexpr (At == 9) return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, P{}};
    };
  if constexpr (At == 10) return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, P{}};
    };
  if constexpr (At == 11) return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, P{}};
    };
  if constexpr (At == 12) return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, P{}};
    };
  if constexpr (At == 13) return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, P{}};
    };
  if constexpr (At == 14) return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, P{}};
    };
  if constexpr (At == 15) return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, P{}};
    };
}

inline constexpr std::size_t most_members = 16;

template <class T, class... P>
concept made_of = requires {
  T{P{}...};
};
template <class T, class At>
inline constexpr bool made_of_any = false;
template <class T, std::size_t... I>
inline constexpr bool made_of_any<T, std::index_sequence<I...>> = made_of<T, any_member_at<I>...>;

/// How many members, where some cannot be made of {}.
template <class T, std::size_t N = most_members>
consteval std::size_t count_members() {
  if constexpr (N == 0 || made_of_any<T, std::make_index_sequence<N>>) {
    return N;
  } else {
    return count_members<T, N - 1>();
  }
}
template <class T, class P, std::size_t... Before, std::size_t... After>
consteval bool takes_between(std::index_sequence<Before...>, std::index_sequence<After...>) {
  return made_of<T, any_member_at<Before>..., P, any_member_at<After>...> &&
         !made_of<T, any_member_at<Before>..., declared_member, any_member_at<After>...>;
}

/// Whether any member of an aggregate is one that P becomes.
template <class T, class P>
consteval bool has_member() {
  if constexpr (requires { T{}; }) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return ((takes_after_defaults<T, P, I>() && !takes_after_defaults<T, declared_member, I>()) || ...);
    }
    (std::make_index_sequence<most_members>{});
  } else {
    constexpr std::size_t n = count_members<T>();
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (takes_between<T, P>(std::make_index_sequence<I>{}, std::make_index_sequence<n - 1 - I>{}) || ...);
    }
    (std::make_index_sequence<n>{});
  }
}

/// Of a type that is_shareable refuses.
template <class U>
consteval obstacle why_not() {
  if constexpr (is_shareable<U>) {
    return obstacle::none;
  } else {
    return obstacle_of<U>() != obstacle::none ? obstacle_of<U>() : obstacle::declared;
  }
}

template <class T>
consteval obstacle obstacle_of_members() {
  using enum obstacle;
  if constexpr (!has_member<T, refused_member<none>>())
    return none;
  else if constexpr (has_member<T, refused_member<mutex>>())
    return mutex;
  else if constexpr (has_member<T, refused_member<shared_mutex>>())
    return shared_mutex;
  else if constexpr (has_member<T, refused_member<condition>>())
    return condition;
  else if constexpr (has_member<T, refused_member<barrier>>())
    return barrier;
  else if constexpr (has_member<T, refused_member<semaphore>>())
    return semaphore;
  else if constexpr (has_member<T, refused_member<thread>>())
    return thread;
  else if constexpr (has_member<T, refused_member<container>>())
    return container;
  else if constexpr (has_member<T, refused_member<pointer>>())
    return pointer;
  else if constexpr (has_member<T, refused_member<function>>())
    return function;
  else if constexpr (has_member<T, refused_member<virtual_functions>>())
    return virtual_functions;
  else
    return declared;
}

template <class T>
consteval obstacle obstacle_of_elements() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    obstacle found = obstacle::none;
    (void)((found = why_not<std::tuple_element_t<I, T>>(), found != obstacle::none) || ...);
    return found;
  }
  (std::make_index_sequence<std::tuple_size_v<T>>{});
}

template <class T>
consteval obstacle obstacle_of() {
  using U = std::remove_cv_t<std::remove_all_extents_t<T>>;
  if constexpr (!std::is_same_v<T, U>)
    return why_not<U>();
  else if constexpr (!std::is_class_v<U>)
    return obstacle::none;
  else if constexpr (private_container<U>)
    return obstacle::container;
  else if constexpr (is_private_pointer<U>)
    return obstacle::pointer;
  else if constexpr (obstacle_by_name<U>() != obstacle::none)
    return obstacle_by_name<U>();
  else if constexpr (std::is_polymorphic_v<U>)
    return obstacle::virtual_functions;
  else if constexpr (std::is_aggregate_v<U> && !std::is_empty_v<U>)
    return obstacle_of_members<U>();
  else if constexpr (requires { std::tuple_size<U>::value; })
    return obstacle_of_elements<U>();
  else
    return obstacle::none;
}

/// An error of compilation that says what to use instead, if T or a member of it cannot work in shared memory.
template <class T>
consteval void require_shareable() {
  constexpr obstacle why = why_not<T>();
  static_assert(why != obstacle::mutex, "a std::mutex in shared memory works within one node only: use quire::mutex");
  static_assert(why != obstacle::shared_mutex,
                "a std::shared_mutex in shared memory works within one node only: use quire::shared_mutex");
  static_assert(why != obstacle::condition,
                "a std::condition_variable in shared memory works within one node only: use quire::condition_variable");
  static_assert(
      why != obstacle::barrier,
      "a std::barrier or std::latch in shared memory works within one node only: use quire::barrier or quire::event");
  static_assert(why != obstacle::semaphore,
                "a std::counting_semaphore in shared memory works within one node only: use quire::counting_semaphore");
  static_assert(why != obstacle::thread,
                "a std::thread belongs to one node: keep it in private memory, or use quire::thread");
  static_assert(why != obstacle::container,
                "a string or container with std::allocator keeps its elements in private memory: use std::vector<T, "
                "quire::allocator<T>>, "
                "std::basic_string<char, std::char_traits<char>, quire::allocator<char>> and so on");
  static_assert(why != obstacle::pointer,
                "std::unique_ptr and std::shared_ptr refer to private memory: use a pointer of quire::new_object()");
  static_assert(
      why != obstacle::function,
      "a std::function refers to private memory: use plain data, and quire::thread to run functions elsewhere");
  static_assert(why != obstacle::virtual_functions,
                "an object with virtual functions belongs to the node that made it: use plain data (or specialise "
                "quire::is_shareable)");
  static_assert(why != obstacle::declared,
                "the type, or a member of it, is declared not to be shareable: quire::is_shareable is false for it");
}

}  // namespace detail
}  // namespace quire
