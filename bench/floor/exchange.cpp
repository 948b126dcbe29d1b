// SPDX-License-Identifier: BSD-3-Clause
// floor_exchange: what a request and its reply cost on the bare transport, both sides polling: two messages of 64
// bytes, and a message of 64 bytes answered by a page (or --bytes). Start it as `pair floor_exchange`.
#include <array>
#include <cstring>

#include "common/program.hpp"
#include "common/samples.hpp"
#include "floor/ucx_link.hpp"

namespace {

constexpr std::size_t page_bytes = 4096;

struct settings {
  std::string transport = "shm";
  std::uint64_t count = 20000;
  std::uint64_t bytes = page_bytes;
};

struct header {
  enum { ask_word, ask_page, reply, end } kind = reply;
  std::array<std::byte, 60> rest{};
};

class side final : public bench::ucx_receiver {
 public:
  side(bench::ucx_link& link, std::size_t bytes) : link_(link), answer_bytes_(std::span(page_).first(bytes)) {
    link.receive_with(*this);
  }

  void on_message(std::span<const std::byte> head, std::span<const std::byte> payload) override {
    header h;
    std::memcpy(&h, head.data(), sizeof h);
    if (!payload.empty()) std::memcpy(page_.data(), payload.data(), payload.size());
    if (h.kind == header::ask_word) link_.send(reply_, {});
    if (h.kind == header::ask_page) link_.send(reply_, answer_bytes_);
    if (h.kind == header::end) ended_ = true;
    ++received_;
  }
  std::byte* place(std::span<const std::byte>) override { return page_.data(); }

  void serve() {
    while (!ended_) link_.progress();
  }
  void ask(const header& what) {
    const auto before = received_;
    link_.send(std::as_bytes(std::span(&what, 1)), {});
    while (received_ == before) link_.progress();
  }

 private:
  bench::ucx_link& link_;
  const header answer_{};
  const std::span<const std::byte> reply_ = std::as_bytes(std::span(&answer_, 1));
  std::array<std::byte, page_bytes> page_{};
  const std::span<const std::byte> answer_bytes_;
  std::size_t received_ = 0;
  bool ended_ = false;
};

void measure(side& here, header kind, const char* name, std::uint64_t count) {
  bench::samples taken(name, "us");
  for (std::uint64_t i = 0; i < count / 10; ++i) here.ask(kind);
  for (std::uint64_t i = 0; i < count; ++i) taken.time([&] { here.ask(kind); });
  taken.print();
}

void run(const settings& wanted) {
  const bench::peer other;
  bench::ucx_link link(other, wanted.transport);
  side here(link, wanted.bytes);
  other.meet();
  if (!other.measures()) return here.serve(), other.meet();
  measure(here, {header::ask_word}, "exchange", wanted.count);
  measure(here, {header::ask_page}, "page_exchange", wanted.count);
  const header end{header::end};
  link.send(std::as_bytes(std::span(&end, 1)), {});
  link.flush();
  other.meet();
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("A bare exchange over the transport. Start it as `pair floor_exchange`.");
  here.add_transport(wanted.transport);
  here.add_number("--bytes", wanted.bytes, 1, page_bytes, "of the long answer");
  here.add_number("--count", wanted.count, 10, 10'000'000, "exchanges of each kind");
  return here.run(argc, argv, [&] { run(wanted); });
}
