// SPDX-License-Identifier: BSD-3-Clause
#include "program/sites/look.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace quire::program::sites {

file_bytes::file_bytes(const char* path) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about {};
  if (file >= 0 && ::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
    void* const at = ::mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (at != MAP_FAILED) bytes_ = {static_cast<const std::byte*>(at), static_cast<std::size_t>(about.st_size)};
  }
  if (file >= 0) ::close(file);
}

file_bytes::~file_bytes() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

file_code look_at(const decoder& by, const char* path, std::string name, wanted what) {
  const file_bytes file(path);
  file_code found{std::move(name), {}, {}};
  if (file.get().empty()) {
    found.what.trouble = "cannot be read";
    return found;
  }
  found.what = read_code(by, file.get(), what);
  const site* s = first_against(found.what);
  if (s == nullptr) {
    const auto update =
        std::find_if(found.what.found.begin(), found.what.found.end(), [](const site& one) { return !one.harmless; });
    if (update != found.what.found.end()) s = &*update;
  }
  if (s != nullptr) found.function = function_at(file.get(), s->address);
  return found;
}

}  // namespace quire::program::sites
