#include "detect/kinds.hpp"

namespace quire::detect {

base::result<std::unique_ptr<detector>> open(kind which, bool quiet) {
  switch (which) {
    case kind::userfault_inline: return open_userfault(false, quiet);
    case kind::userfault_thread: return open_userfault(true, quiet);
    case kind::segv: break;
  }
  return open_segv();
}

}  // namespace quire::detect
