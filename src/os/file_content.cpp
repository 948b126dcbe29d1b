// SPDX-License-Identifier: BSD-3-Clause
#include "os/file_content.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>

#include "os/process.hpp"

namespace quire::os {

file_content content_of(const std::string& path) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return {{}, errno};
  file_content found;
  for (std::array<char, 65536> piece;;) {
    const transfer moved = read_some(file.number(), piece);
    if (moved.what == transfer::outcome::moved) {
      found.text.append(piece.data(), moved.bytes);
    } else {
      if (moved.what != transfer::outcome::ended) found.error = errno;
      return found;
    }
  }
}

}  // namespace quire::os
