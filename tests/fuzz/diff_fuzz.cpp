// SPDX-License-Identifier: BSD-3-Clause
// Diffs: a refused one has written nothing, an accepted one nothing beyond the unit; and whatever two pages differ in
// comes over.
#include <vector>

#include "diff/diff.hpp"
#include "input.hpp"

using namespace quire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  fuzz::input in(data, bytes);
  const auto how = in.take<std::uint8_t>();
  const auto which = diff::all_variants[how % std::size(diff::all_variants)];
  const diff::codec codec(diff::available(which) ? which : diff::variant::portable);
  const std::size_t size = (how & 0x80) != 0 ? 4096 : 1u + in.take<std::uint16_t>() % 9000;
  const auto unit = std::make_unique<std::byte[]>(size);  // of just that size, for the sanitizer
  const std::span<std::byte> content(unit.get(), size);
  if ((how & 0x40) == 0) {
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<std::byte>(i * 7);
    const std::vector<std::byte> before(content.begin(), content.end());
    const auto exact = std::make_unique<std::byte[]>(in.rest().size());
    std::copy(in.rest().begin(), in.rest().end(), exact.get());
    if (!codec.apply({exact.get(), in.rest().size()}, content))
      MUST(std::equal(content.begin(), content.end(), before.begin()));
    return 0;
  }
  std::vector<std::byte> twin(size), buffer(diff::worst_bytes(size));
  while (!in.empty()) {  // pieces of both
    const auto at = in.take<std::uint16_t>() % size;
    const auto piece = in.take(in.take<std::uint8_t>());
    const auto fits = piece.first(std::min(piece.size(), size - at));
    std::copy(fits.begin(), fits.end(), (at % 3 == 0 ? twin.data() : content.data()) + at);
  }
  const auto made = codec.encode(content, twin.data(), buffer, diff::writers::several);
  MUST(made.what != diff::outcome::no_room && made.bytes <= buffer.size());
  if (made.what == diff::outcome::unchanged) MUST(std::equal(content.begin(), content.end(), twin.begin()));
  if (made.what != diff::outcome::diff) return 0;
  MUST(codec.apply(std::span<const std::byte>(buffer).first(made.bytes), twin));
  MUST(std::equal(content.begin(), content.end(), twin.begin()));
  return 0;
}
