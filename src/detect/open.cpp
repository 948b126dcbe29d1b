// SPDX-License-Identifier: BSD-3-Clause
#include "detect/kinds.hpp"

namespace quire::detect {

base::result<std::unique_ptr<detector>> open(kind which, bool quiet, os::address_space& where) {
  switch (which) {
    case kind::userfault_inline:
    case kind::userfault_thread:
    case kind::userfault_code:
    case kind::userfault_runs:
      return open_userfault(which, quiet, where);
    case kind::userfault_scan:
      return open_userfault_scan(quiet, where);
    case kind::segv_code:
    case kind::segv_runs:
    case kind::segv:
      break;
  }
  return open_segv(where, which);
}

}  // namespace quire::detect
