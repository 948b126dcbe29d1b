// SPDX-License-Identifier: BSD-3-Clause
#include "detect/kinds.hpp"

namespace quire::detect {

base::result<std::unique_ptr<detector>> open(kind which, bool quiet, os::address_space& where) {
  switch (which) {
    case kind::userfault_inline:
      return open_userfault(false, quiet, where);
    case kind::userfault_thread:
      return open_userfault(true, quiet, where);
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
