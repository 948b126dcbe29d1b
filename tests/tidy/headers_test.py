#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""headers_test.py SOURCE: each header includes what it names: for each name of std:: a header that has it, and for types of Quire the one that defines them,
itself or by way of headers of the tree. So it compiles alone, whatever stood before it; headers_alone.py tries just that, which takes minutes."""
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import tree  # noqa: E402

ROOT = Path(sys.argv[1]).resolve()
FOLDERS = ("src/", "include/", "program/", "sim/", "tools/")
# Where #include "..." looks.
PATHS = ("", "include/", "src/", "tools/", "apps/")

# What each header has, of what the headers of the tree name. Integers of fixed width and std::size_t come with nearly all of them.
STD = {
    "algorithm": "all_of any_of clamp copy copy_if copy_n count count_if equal fill fill_n find find_if for_each is_sorted lower_bound max max_element "
                 "merge min min_element minmax mismatch none_of nth_element partial_sort partition ranges remove remove_if replace reverse rotate sort "
                 "stable_sort transform unique upper_bound",
    "array": "array to_array tuple_element tuple_element_t tuple_size tuple_size_v",
    "atomic": "atomic atomic_flag atomic_ref atomic_signal_fence atomic_thread_fence memory_order memory_order_acq_rel memory_order_acquire "
              "memory_order_consume memory_order_relaxed memory_order_release memory_order_seq_cst",
    "barrier": "barrier",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_one countr_zero endian has_single_bit popcount rotl rotr",
    "bitset": "bitset",
    "charconv": "from_chars from_chars_result to_chars to_chars_result",
    "chrono": "chrono",
    "cmath": "abs ceil floor isfinite log log2 pow round sqrt",
    "compare": "partial_ordering strong_ordering weak_ordering",
    "concepts": "constructible_from convertible_to copyable default_initializable derived_from destructible floating_point integral invocable regular "
                "same_as signed_integral totally_ordered unsigned_integral",
    "condition_variable": "condition_variable condition_variable_any cv_status",
    "coroutine": "coroutine_handle coroutine_traits noop_coroutine suspend_always suspend_never",
    "csetjmp": "jmp_buf longjmp",
    "csignal": "raise sig_atomic_t signal",
    "cstdarg": "va_list",
    "cstddef": "byte max_align_t nullptr_t ptrdiff_t size_t to_integer",
    "cstdint": "int16_t int32_t int64_t int8_t intmax_t intptr_t uint16_t uint32_t uint64_t uint8_t uint_fast32_t uintmax_t uintptr_t",
    "cstdio": "FILE fclose fflush fopen fprintf fputs fwrite perror printf snprintf vsnprintf",
    "cstdlib": "_Exit abort atexit calloc exit free getenv malloc quick_exit realloc strtol strtoul strtoull system",
    "cstring": "memchr memcmp memcpy memmove memset strchr strcmp strcpy strerror strlen strncmp strncpy strrchr strstr",
    "ctime": "time time_t timespec tm",
    "deque": "deque",
    "exception": "current_exception exception exception_ptr make_exception_ptr rethrow_exception terminate uncaught_exceptions",
    "filesystem": "filesystem",
    "functional": "bind_front cref equal_to function greater hash identity invoke less multiplies not_fn plus ref reference_wrapper",
    "initializer_list": "initializer_list",
    "iterator": "advance back_inserter begin bidirectional_iterator_tag contiguous_iterator_tag data distance end forward_iterator_tag "
                "input_iterator_tag inserter iterator_traits make_move_iterator next prev random_access_iterator_tag reverse_iterator size ssize",
    "latch": "latch",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "addressof align allocate_shared allocator allocator_traits construct_at default_delete destroy destroy_at destroy_n "
              "enable_shared_from_this make_shared make_unique pointer_traits shared_ptr static_pointer_cast to_address uninitialized_copy "
              "uninitialized_copy_n uninitialized_default_construct_n uninitialized_fill_n uninitialized_value_construct_n unique_ptr weak_ptr",
    "memory_resource": "pmr",
    "mutex": "adopt_lock call_once defer_lock lock lock_guard mutex once_flag recursive_mutex scoped_lock timed_mutex try_to_lock unique_lock",
    "new": "align_val_t bad_alloc bad_array_new_length hardware_destructive_interference_size launder nothrow nothrow_t",
    "numeric": "accumulate gcd inner_product iota lcm midpoint partial_sum reduce",
    "optional": "in_place make_optional nullopt nullopt_t optional",
    "queue": "priority_queue queue",
    "random": "mt19937 mt19937_64 uniform_int_distribution",
    "ratio": "micro milli nano ratio",
    "semaphore": "binary_semaphore counting_semaphore",
    "set": "multiset set",
    "shared_mutex": "shared_lock shared_mutex shared_timed_mutex",
    "span": "as_bytes as_writable_bytes dynamic_extent span",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "invalid_argument length_error logic_error out_of_range overflow_error runtime_error",
    "string": "basic_string char_traits getline stod stoi stoll stoul stoull string to_string u8string wstring",
    "string_view": "basic_string_view string_view string_view_literals",
    "system_error": "errc error_category error_code error_condition generic_category is_error_code_enum make_error_code system_category system_error",
    "thread": "jthread this_thread thread",
    "tuple": "apply forward_as_tuple get ignore make_from_tuple make_tuple tie tuple tuple_cat",
    "type_traits": "add_const_t add_pointer_t alignment_of_v bool_constant common_type_t conditional_t conjunction_v decay_t disjunction_v enable_if_t "
                   "extent_v false_type has_unique_object_representations_v integral_constant invoke_result_t is_aggregate_v is_arithmetic_v is_array_v "
                   "is_assignable_v is_base_of_v is_bounded_array_v is_class_v is_const_v is_constant_evaluated is_constructible_v is_convertible_v "
                   "is_copy_constructible_v is_default_constructible_v is_empty_v is_enum_v is_floating_point_v is_function_v is_integral_v "
                   "is_invocable_r_v is_invocable_v is_lvalue_reference_v is_move_constructible_v is_nothrow_copy_constructible_v "
                   "is_nothrow_destructible_v is_nothrow_invocable_v is_nothrow_move_constructible_v is_object_v is_pointer_v is_polymorphic_v "
                   "is_reference_v is_rvalue_reference_v is_same is_same_v is_signed_v is_standard_layout_v is_trivial_v is_trivially_copyable "
                   "is_trivially_copyable_v is_trivially_destructible_v is_unbounded_array_v is_union_v is_unsigned_v is_void_v is_volatile_v "
                   "make_signed_t make_unsigned_t negation_v rank_v remove_all_extents_t remove_const_t remove_cv_t remove_cvref_t remove_extent_t "
                   "remove_pointer_t remove_reference_t true_type type_identity_t underlying_type_t void_t",
    "typeinfo": "bad_cast type_info",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set",
    "utility": "as_const cmp_greater cmp_less declval exchange forward in_place_t in_place_type index_sequence index_sequence_for integer_sequence "
               "make_index_sequence make_pair move pair piecewise_construct swap to_underlying unreachable",
    "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
STD_NAMES = {name for names in STD.values() for name in names.split()}
CONTAINERS = ("array deque list map set span string string_view unordered_map unordered_set vector").split()
# Names that the standard gives to further headers, or which each of these cannot do without.
ALSO = {
    "size_t": CONTAINERS + "cstdio cstdlib cstring ctime new memory functional atomic utility algorithm bit limits tuple iterator type_traits bitset".split(),
    "nullptr_t": CONTAINERS + ["memory", "functional", "utility"], "ptrdiff_t": CONTAINERS + ["iterator", "memory", "atomic"], "byte": ["span"],
    "initializer_list": CONTAINERS + ["utility", "algorithm", "optional"],
    "hash": CONTAINERS + ["memory", "optional", "thread", "bitset", "variant"], "less": CONTAINERS + ["memory", "algorithm"],
    "equal_to": ["unordered_map", "unordered_set"],
    "exception": ["new", "stdexcept", "system_error", "typeinfo"], "string": ["filesystem", "stdexcept", "system_error", "sstream"],
    "string_view": ["string", "filesystem"], "basic_string_view": ["string"], "char_traits": ["string_view"],
    "allocator": CONTAINERS, "allocator_traits": CONTAINERS, "remove": ["cstdio"], "tuple_size": ["tuple", "utility"], "tuple_size_v": ["tuple", "utility"],
    "tuple_element": ["tuple", "utility"], "tuple_element_t": ["tuple", "utility"], "get": ["array", "utility", "variant"], "in_place": ["utility"],
    "swap": CONTAINERS + ["memory", "algorithm"], "addressof": ["new"], "time": ["chrono"], "ranges": ["ranges", "functional", "iterator"],
    "erase_if": CONTAINERS, "erase": CONTAINERS, "timespec": ["time.h"], "FILE": ["stdio.h"], "abs": ["cstdlib"],
    "identity": ["functional"], "invoke": ["functional"], "milli": ["chrono"], "mutex": ["condition_variable"],
    "unique_lock": ["condition_variable", "shared_mutex"],
    **{name: ["shared_mutex"] for name in ("defer_lock", "try_to_lock", "adopt_lock")},
    **{name: CONTAINERS for name in ("begin", "end", "size", "data", "ssize", "reverse_iterator", "distance", "next", "prev")},
    # What constructs, moves and compares comes with all that holds values.
    **{name: CONTAINERS + "memory functional optional algorithm tuple thread atomic mutex variant".split()
       for name in ("move", "forward", "pair", "make_pair", "declval", "index_sequence", "make_index_sequence", "exchange")},
}
TRAITS_COME_WITH = CONTAINERS + "memory utility functional tuple atomic concepts optional algorithm bit span new thread mutex chrono variant".split()


def homes():
    """{name: headers that have it}."""
    found = {}
    for header, names in STD.items():
        for name in names.split():
            found.setdefault(name, set()).add(header)
            if header == "type_traits":
                found[name].update(TRAITS_COME_WITH)
            if header == "cstdint":
                found[name].update(("stdint.h", "inttypes.h", "atomic", "chrono", "thread"))
    for name, headers in ALSO.items():
        found.setdefault(name, set()).update(headers)
    return found


INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"\n]+)[>"]', re.M)
DEFINED = re.compile(r"^[ \t]*(?:template\s*<[^;{]*>\s*)?(?:class|struct|union|enum(?:\s+class)?|concept)\s+"
                     r"(?:alignas\s*\([^)]*\)\s*|\[\[[^\]]*\]\]\s*)*(\w+)(?=[^;(){}]*[{=])", re.M)
NAMED = re.compile(r"^[ \t]*using\s+(\w+)\s*=", re.M)
FORWARD = re.compile(r"\b(?:class|struct|union|enum(?:\s+class)?)\s+(\w+)(?:\s*:\s*[\w:]+)?\s*;")


class Headers:
    """`texts`: {path in the tree: text}."""

    def __init__(self, texts):
        self.code, self.direct, self.closures = {}, {}, {}
        for name, text in texts.items():
            # Paths are literals, which code_of() takes out.
            self.code[name] = INCLUDE.sub("", tree.code_of(text))
            self.direct[name] = [self.where(name, path, texts) for _, path in INCLUDE.findall(text)]
        self.defined, self.forward = {}, {}
        for name, code in self.code.items():
            for word in {*DEFINED.findall(code), *NAMED.findall(code)}:
                self.defined.setdefault(word, set()).add(name)
            self.forward[name] = set(FORWARD.findall(code))

    @staticmethod
    def where(name, path, texts):
        beside = f"{name.rsplit('/', 1)[0]}/{path}"
        return next((p for p in (beside, *(base + path for base in PATHS)) if p in texts), path)

    def closure(self, name):
        """All that it includes, and itself."""
        if name not in self.closures:
            seen, todo = set(), [name]
            while todo:
                if (at := todo.pop()) not in seen:
                    seen.add(at)
                    todo += self.direct.get(at, ())
            self.closures[name] = seen
        return self.closures[name]

    def types_of_quire(self, name):
        """Types that a header names and that just one other defines, [(as it is named, header)]. Where several do only a compiler knows which one is meant, and
        words without a line in them may be names of anything."""
        code = self.code[name]
        found = {(space, word) for space, word in re.findall(r"\b(\w+)::(\w+)\b", code) if space != "std"}
        found |= {("", word) for word in re.findall(r"(?<![\w.>:~])(\w+_\w+)\b(?=\s*[&*]+\s*\w|\s+\w|\s*[<>]|::)", code)
                  if word not in STD_NAMES}
        for space, word in sorted(found):
            there = self.defined.get(word, set()) - {name}
            if len(there) == 1 and len(self.defined[word]) == 1:
                home = next(iter(there))
                around = re.findall(r"^namespace ([\w:]+) \{", self.code[home], re.M)
                mine = re.findall(r"^namespace ([\w:]+) \{", code, re.M)
                if space in [a.split("::")[-1] for a in around] or (space == "" and any(f"{m}::".startswith(f"{a}::") for m in mine for a in around)):
                    yield f"{space}::{word}" if space else word, home

    def lacks(self, name, known):
        """Complaints on one header."""
        code, has, wrong = self.code[name], self.closure(name), []
        if re.search(r"\bfor \([^;(){}]*: \{", code) and not has & known["initializer_list"]:
            wrong.append(f"{name} goes through {{...}}, and does not include <initializer_list>")
        for word in sorted(set(re.findall(r"\bstd::(\w+)", code))):
            if word.startswith("__"):
                continue
            if word not in known:
                wrong.append(f"{name}: std::{word} is in no row of STD in headers_test.py")
            elif not has & known[word]:
                wrong.append(f"{name} names std::{word}, and does not include <{'> or <'.join(sorted(known[word])[:3])}>")
        declared = {word for header in has for word in self.forward.get(header, ())}
        wrong += [f"{name} names {word}, and does not include {home}" for word, home in self.types_of_quire(name)
                  if home not in has and word.split("::")[-1] not in declared]
        return wrong


class Includes(unittest.TestCase):
    def test_headers_include_what_they_name(self):
        names = [name for name in tree.tracked(ROOT) if name.endswith((".hpp", ".h")) and name.startswith((*FOLDERS, "apps/"))]
        headers, known = Headers({name: (ROOT / name).read_text() for name in names}), homes()
        mine = [name for name in names if name.startswith(FOLDERS)]
        self.assertGreater(len(mine), 400)
        self.assertGreater(sum(1 for name in mine for _ in headers.types_of_quire(name)), 500)
        wrong = [line for name in mine for line in headers.lacks(name, known)]
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_the_check_sees_what_is_not_included(self):
        texts = {
            "src/a/one.hpp": "#pragma once\n#include <vector>\nnamespace quire::a {\nstruct one {\n  std::vector<int> all;\n};\nclass other;\n"
                             "using three = int;\n}\n",
            "src/b/two.hpp": '#include "a/one.hpp"\nnamespace b { std::vector<int> f(a::one, a::three, a::other&); } // std::string, a::four\n',
            "src/b/wrong.hpp": "#include <cstdint>\nnamespace b { std::vector<int> f(a::one); const char* s = \"std::string\"; }\n",
            "src/b/unknown.hpp": "std::nothing_of_the_kind a;\n", "src/b/forward.hpp": "namespace a {\nstruct one;\n}\nvoid f(a::one&);\n",
            "src/a/list_of.hpp": "namespace quire::a {\nclass list_of {};\n}\n",
            "src/a/user.hpp": "namespace quire::a {\nvoid f(list_of& x);\nint list_of = 1;\n}\n",
            "src/a/loop.hpp": "void f() { for (int a : {1, 2}) g(a); }\n"}
        headers, known = Headers(texts), homes()
        self.assertEqual({name: len(headers.lacks(name, known)) for name in texts},
                         {"src/a/one.hpp": 0, "src/b/two.hpp": 0, "src/b/wrong.hpp": 2, "src/b/unknown.hpp": 1, "src/b/forward.hpp": 0,
                          "src/a/list_of.hpp": 0, "src/a/user.hpp": 1, "src/a/loop.hpp": 1})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
