// SPDX-License-Identifier: BSD-3-Clause
#include "loader_room.hpp"

namespace quire::tools {
namespace {

/// No folder, so that nothing is found in it. A name of its own length, slashes not counted, is looked at once.
constexpr const char* nowhere = "/dev/null";
/// For about 50 libraries.
constexpr std::size_t room_bytes = 64 << 10;
constexpr std::size_t step_bytes = 8 << 10;

/// glibc copies a folder's name, removes the slashes at its end, sees that it knows the folder, and frees the copy:
/// what its allocator got for the longest of them serves what it allocates later, and no page comes between two
/// libraries.
std::string again(std::size_t bytes) { return nowhere + std::string(bytes - std::string(nowhere).size(), '/'); }

}  // namespace

std::string with_loader_room(const std::string& folders) {
  std::string all = nowhere + (":" + again(room_bytes));
  if (!folders.empty()) all += ":" + folders;
  const std::size_t least = all.size() + 1 + again(16).size();
  const std::size_t whole = (least + step_bytes - 1) / step_bytes * step_bytes;
  return all + ":" + again(whole - all.size() - 1);
}

}  // namespace quire::tools
