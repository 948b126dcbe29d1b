// SPDX-License-Identifier: BSD-3-Clause
#include "store/swap/swap.hpp"

#include "os/segments.hpp"

namespace quire::store {

constinit const row swap::the_row{.id = 0, .name = "swap", .make = [](const settings& how) -> std::unique_ptr<store> {
                                    return std::make_unique<swap>(how);
                                  }};

swap::swap(const settings& how) : file_(os::temporary_directory(how.directory)) {}

}  // namespace quire::store
