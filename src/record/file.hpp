// SPDX-License-Identifier: BSD-3-Clause
// The file that a node leaves for the report: "quire.NODE.record". It begins with a mark and a version, and ends with a
// sum over what lies between, so that a file that was cut or changed is refused. Numbers have as many bytes as they
// need (LEB128), lists their length before them. Pure; the node writes it at its end, `quire report` reads it.
// Application threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/segments.hpp"

namespace quire::record {

inline constexpr std::uint64_t file_version = 2;

struct file_sums {
  std::uint64_t faults[2] = {}, ns[2] = {}, lines[2] = {};  ///< as fault_sums
};
struct file_unit {
  std::uint64_t region = 0, unit = 0;
  std::uint64_t address = 0, bytes = 0;  ///< no bytes: the region has gone
  std::vector<std::uint64_t> from{};
  file_sums sums{};
};
struct file_site {
  std::vector<std::uint64_t> from{};
  file_sums sums{};
};
struct file_phase {
  std::uint64_t phase = 0, ns = 0;
  wait_times waited_ns{};
};
struct file_thread {
  std::uint64_t number = 0, begin_ns = 0, resolution_ns = 0;  ///< times count from the begin of the record
  std::vector<segment> segments{};
  std::vector<file_phase> phases{};
  std::vector<file_unit> units{};
  std::vector<file_site> sites{};
};
struct file_row {
  std::uint64_t address = 0;
  std::vector<std::uint64_t> columns{};  ///< column, count, column, count ...
};
struct file_heat {
  std::uint64_t region = 0, piece_bytes = 0, column_ns = 0;
  std::vector<file_row> rows{};
};
struct file_region {
  std::uint64_t id = 0, address = 0, bytes = 0, unit_bytes = 0, release = 0;
  std::string data{};  ///< "file+0x1234" of static data
};
struct file_label {
  std::uint64_t address = 0, bytes = 0;
  std::string name{};
};
struct file_counter {
  std::string name{};
  std::uint64_t value = 0;
};
/// A line of an interpreted program, which stands as a caller by its number.
struct file_line {
  std::uint64_t number = 0, line = 0;
  std::string file{}, function{};
};
struct file_peer {
  std::uint64_t messages = 0, bytes = 0;
};
struct file_part {
  std::uint64_t begin = 0, end = 0;
};
/// What is loaded: the program, and libraries.
struct file_module {
  std::string path{}, build_id{};
  std::uint64_t bias = 0;
  std::vector<file_part> parts{};  ///< that can be run
};
/// What is counted under QUIRE_SHARING (sharing/table.hpp), of one unit.
struct file_use {
  std::uint64_t region = 0, address = 0, bytes = 0, release = 0, moves = 0, ns = 0;
  std::vector<std::uint64_t> reads{}, writes{};  ///< by line, by word
  std::vector<file_part> objects{};
  std::vector<std::string> calls{};
  std::string data{};
};

struct node_record {
  std::uint64_t node = 0, nodes = 1, ns = 0;  ///< `ns`: how long the record is
  std::uint64_t met_ns = 0;                   ///< when all nodes had met, after the begin of the record
  std::uint64_t untimed = 0;  ///< 1: the detector does not tell which thread faults, nor how long it waits
  std::string program{}, host{};
  std::vector<file_thread> threads{};
  wait_times rest_ns{};  ///< of threads without a record of their own
  std::vector<file_heat> heats{};
  std::vector<file_region> regions{};
  std::vector<file_label> labels{};
  std::vector<std::string> phases{};
  std::vector<file_peer> peers{};
  std::vector<file_counter> counters{};
  std::vector<file_module> modules{};
  std::vector<file_use> uses{};
  std::vector<file_line> interpreted{};
};

[[nodiscard]] std::string file_name(std::uint64_t node);
[[nodiscard]] std::vector<std::byte> encode(const node_record& r);
/// False, and a sentence in `why` for what is no such file, or of another version, or damaged.
[[nodiscard]] bool decode(std::span<const std::byte> file, node_record& r, std::string& why);
/// The same of what lies between mark and sum.
[[nodiscard]] bool decode_body(std::span<const std::byte> body, node_record& r, std::string& why);

}  // namespace quire::record
