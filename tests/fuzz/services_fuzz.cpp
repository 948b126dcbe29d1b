// SPDX-License-Identifier: BSD-3-Clause
// The machines of services on node 0 or another one, fed with requests of other nodes in any order and with any fields:
// names, threads, containers. They may refuse; each request is answered once at most, and none that was not made.
#include <unordered_set>

#include "input.hpp"
#include "services/containers.hpp"
#include "services/names.hpp"
#include "services/threads.hpp"

using namespace quire;
using namespace quire::services;

namespace {

constexpr unsigned nodes = 4;

/// Mostly numbers that mean something.
std::uint64_t some_number(fuzz::input& in) {
  const auto which = in.take<std::uint8_t>();
  return which < 240 ? which % 8 : in.take<std::uint64_t>();
}

class calls {
 public:
  model::message make(fuzz::input& in) {
    model::message m;
    m.requester = m.from = node_id{static_cast<std::uint16_t>(in.take<std::uint8_t>() % nodes)};
    m.token = ++last_;
    m.a = some_number(in);
    m.b = some_number(in);
    m.c = some_number(in);
    open_.insert(m.token);
    return m;
  }
  void take(answers& out) {
    for (const answer& one : out) MUST(open_.erase(one.request.token) == 1);
    out.clear();
  }

 private:
  std::uint64_t last_ = 0;
  std::unordered_set<std::uint64_t> open_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  fuzz::input in(data, std::min<std::size_t>(bytes, 4096));
  const node_id self{static_cast<std::uint16_t>(in.take<std::uint8_t>() % 2)};
  names all_names;
  threads all_threads(self);
  containers all_containers(self);
  calls made;
  answers out;
  while (!in.empty()) {
    const auto step = in.take<std::uint8_t>();
    const auto other = node_id{static_cast<std::uint16_t>(step / 16 % nodes)};
    switch (step % 12) {
      case 0:
        all_names.on_publish(made.make(in), names::name_of(fuzz::text_of(in.take(1 + step / 128))), out);
        break;
      case 1:
        all_names.on_lookup(made.make(in), names::name_of(fuzz::text_of(in.take(1 + step / 128))), out);
        break;
      case 2: {
        const std::uint64_t number = all_threads.on_started(made.make(in), QUIRE_OK, out);
        if (step >= 128) all_threads.on_finished(number, step, out);
        break;
      }
      case 3:
        all_threads.on_join(made.make(in), out);
        break;
      case 4:
        all_names.on_death(other);
        all_threads.on_death(other);
        all_containers.on_death(other, out);
        break;
      case 5:
        (void)all_containers.hold();
        break;
      case 6:
        all_containers.let_go(out);
        break;
      default: {
        model::message m = made.make(in);
        if (step < 240) m.a = in.take<std::uint8_t>() % (static_cast<std::uint64_t>(container_order::last) + 1);
        const bool locks = m.a == static_cast<std::uint64_t>(container_order::lock) ||
                           m.a == static_cast<std::uint64_t>(container_order::test_lock);
        all_containers.on_request(m, in.take(locks ? sizeof(container_lock) : std::size_t{1} + step / 64), out);
      }
    }
    made.take(out);
  }
  return 0;
}
