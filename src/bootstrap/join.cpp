// Which bootstrap this process gets. Called once, by quire_start().
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/local/member.hpp"

namespace quire::bootstrap {

base::result<std::unique_ptr<bootstrap>> join() {
  auto launched = local::join_launched();
  if (launched.ok() || launched.why() != QUIRE_NOT_FOUND) return launched;
  return local::join_alone();
}

void leave_to_another() noexcept { local::forget_launched(); }

}  // namespace quire::bootstrap
