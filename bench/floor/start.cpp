// SPDX-License-Identifier: BSD-3-Clause
// floor_start: what the start and end of two processes cost with the bare transport: load and open UCX, learn the
// other's address, connect, exchange one message, close. run.py measures how long `pair floor_start` takes.
#include <array>

#include "common/program.hpp"
#include "floor/ucx_link.hpp"

namespace {

class side final : public bench::ucx_receiver {
 public:
  std::byte* place(std::span<const std::byte>) override { throw std::logic_error("nothing here is announced"); }
  void on_message(std::span<const std::byte>, std::span<const std::byte>) override { arrived_ = true; }
  [[nodiscard]] bool arrived() const noexcept { return arrived_; }

 private:
  bool arrived_ = false;
};

void run(const std::string& transport) {
  const bench::peer other;
  bench::ucx_link link(other, transport);
  side here;
  link.receive_with(here);
  other.meet();
  constexpr std::array<std::byte, 64> message{};
  link.send(message, {});
  while (!here.arrived()) link.progress();
  link.flush();
  other.meet();
}

}  // namespace

int main(int argc, char** argv) {
  std::string transport = "shm";
  bench::program here("The start of two processes with the bare transport. Start it as `pair floor_start`.");
  here.add_transport(transport);
  return here.run(argc, argv, [&] { run(transport); });
}
