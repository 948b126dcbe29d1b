// SPDX-License-Identifier: BSD-3-Clause
#include "os/address_space.hpp"

#include "os/memory.hpp"

namespace quire::os {
namespace {

class own final : public address_space {
 public:
  int protect(void* address, std::size_t bytes, int prot) noexcept override {
    return os::protect(address, bytes, prot);
  }
  int advise(void* address, std::uint64_t bytes, int advice) noexcept override {
    return os::advise(address, bytes, advice);
  }
  int open_userfault(userfault_mode mode) noexcept override { return userfault_open(mode); }
};

}  // namespace

address_space& this_process() noexcept {
  static constinit own space;
  return space;
}

}  // namespace quire::os
