// SPDX-License-Identifier: BSD-3-Clause
// Write notices: what can be read can be written, and reads the same again.
#include <vector>

#include "input.hpp"
#include "model/ids.hpp"
#include "protocol/release/notices.hpp"

using namespace quire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  fuzz::input in(data, bytes);
  release::notice_reader reader(in.rest());
  std::vector<release::notice> read;
  for (release::notice n; reader.next(n);) {
    MUST(n.writer.value() < model::max_nodes && n.home.value() < model::max_nodes &&
         n.count <= release::max_notice_units);
    read.push_back(n);
  }
  std::vector<std::byte> room(64 * read.size() + 64);
  release::notice_writer writer(room);
  for (const auto& n : read) MUST(writer.add(n));
  release::notice_reader again(writer.bytes());
  for (const auto& n : read) {
    release::notice same;
    MUST(again.next(same) && same == n);
  }
  release::notice none;
  MUST(!again.next(none) && again.ok());
  return 0;
}
