// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/container_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "checkpoint/crc32c.hpp"
#include "checkpoint/zeroes.hpp"
#include "os/durable_file.hpp"

namespace quire::checkpoint {
namespace {

constexpr std::size_t step_bytes = 1u << 20;

std::string path_of(const std::string& directory, const container_row& row) {
  return directory + "/container-" + std::to_string(row.number);
}

/// Calls use(at, content) for all of the file, piece by piece, until it is not ok.
template <class F>
outcome for_each_piece(const os::input_file& file, const std::string& path, std::uint64_t bytes, F&& use) {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(step_bytes, bytes));
  for (std::uint64_t at = 0; at < bytes; at += buffer.size()) {
    const std::span<std::byte> piece = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), bytes - at));
    if (const int error = file.read(at, piece); error != 0) return refused("read", path, error);
    if (outcome why = use(at, std::span<const std::byte>(piece)); !why.ok()) return why;
  }
  return {};
}

/// What is nothing but zeroes takes no room, where `to` is new.
outcome copy(const os::input_file& from, const std::string& from_path, std::uint64_t bytes, os::output_file& to,
             const std::string& to_path, bool is_new, std::uint32_t& checksum) {
  checksum = 0;
  outcome why =
      for_each_piece(from, from_path, bytes, [&](std::uint64_t at, std::span<const std::byte> piece) -> outcome {
        checksum = crc32c(piece, checksum);
        if (is_new && is_zero(piece)) return {};
        const int error = to.write(at, piece);
        return error == 0 ? outcome{} : refused("write", to_path, error);
      });
  return why;
}

outcome end(os::output_file& file, const std::string& path, std::uint64_t bytes) {
  if (const int error = file.resize(bytes); error != 0) return refused("write", path, error);
  if (const int error = file.sync(); error != 0) return refused("write", path, error);
  return {};
}

/// How long it is.
outcome open(os::input_file& file, const std::string& path, std::uint64_t& bytes) {
  if (const int error = file.open(path); error != 0) return refused("open", path, error);
  if (const int error = file.size(bytes); error != 0) return refused("read", path, error);
  return {};
}

}  // namespace

outcome copy_container(const std::string& directory, container_row& row) {
  const std::string path = path_of(directory, row);
  os::input_file from;
  os::output_file to;
  if (outcome why = open(from, row.what, row.bytes); !why.ok()) return why;
  if (const int error = to.make(path); error != 0) return refused("make", path, error);
  row.has_checksum = to.clone(from) != 0 ? 1 : 0;
  if (row.has_checksum != 0) {
    std::uint32_t checksum = 0;
    if (outcome why = copy(from, row.what, row.bytes, to, path, true, checksum); !why.ok()) return why;
    row.checksum = checksum;
  }
  return end(to, path, row.bytes);
}

outcome put_container_back(const std::string& directory, const container_row& row) {
  const std::string path = path_of(directory, row);
  os::input_file from;
  os::output_file to;
  std::uint64_t bytes = 0;
  if (outcome why = open(from, path, bytes); !why.ok()) return why;
  if (const int error = to.open(row.what); error != 0) return refused("open", row.what, error);
  if (to.clone(from) != 0) {
    std::uint32_t checksum = 0;
    if (outcome why = copy(from, path, row.bytes, to, row.what, false, checksum); !why.ok()) return why;
  }
  return end(to, row.what, row.bytes);
}

outcome check_copy_size(const std::string& directory, const container_row& row) {
  if (row.where != container_row::content::copy) return {};
  const std::string path = path_of(directory, row);
  os::input_file file;
  std::uint64_t bytes = 0;
  if (const int error = file.open(path); error != 0)
    return error == ENOENT ? damaged(path, "it is missing") : refused("open", path, error);
  if (const int error = file.size(bytes); error != 0) return refused("read", path, error);
  if (bytes == row.bytes) return {};
  return damaged(path, "it has " + std::to_string(bytes) + " bytes instead of " + std::to_string(row.bytes));
}

outcome check_copy(const std::string& directory, const container_row& row) {
  if (row.where != container_row::content::copy || row.has_checksum == 0) return check_copy_size(directory, row);
  const std::string path = path_of(directory, row);
  os::input_file file;
  std::uint64_t bytes = 0;
  if (outcome why = open(file, path, bytes); !why.ok()) return why;
  std::uint32_t checksum = 0;
  outcome why = for_each_piece(file, path, row.bytes, [&](std::uint64_t, std::span<const std::byte> piece) -> outcome {
    checksum = crc32c(piece, checksum);
    return {};
  });
  if (!why.ok() || checksum == row.checksum) return why;
  return damaged(path, "its checksum is wrong");
}

}  // namespace quire::checkpoint
