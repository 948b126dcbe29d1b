// SPDX-License-Identifier: BSD-3-Clause
// floor_bandwidth: how fast the bare transport moves memory from one process to another, by size of message: no
// requests, 16 messages on their way, the receiver puts them side by side into memory that was used before, or
// (--fresh) never. Sizes are tried in turn, the best is reported as `bandwidth`. Start it as `pair floor_bandwidth`.
#include <fcntl.h>
#include <sys/mman.h>

#include <cstring>

#include "common/program.hpp"
#include "common/samples.hpp"
#include "floor/ucx_link.hpp"

namespace {

struct settings {
  std::string transport = "shm";
  std::uint64_t mebibytes = 256;
  std::uint64_t rounds = 3;
  bool fresh = false;
};

constexpr std::size_t most_pending = 16;
constexpr std::size_t smallest = 4096, largest = 2u << 20;

/// Shared memory, as the pages of Quire are.
class buffer {
 public:
  explicit buffer(std::size_t bytes) : bytes_(bytes), memory_(::memfd_create("buffer", MFD_CLOEXEC)) {
    if (memory_ < 0 || ::ftruncate(memory_, static_cast<off_t>(bytes)) != 0) bench::fail("memfd");
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
    if (at == MAP_FAILED) bench::fail("mmap");
    data_ = static_cast<std::byte*>(at);
    std::memset(data_, 1, bytes);
  }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  void discard() const {
    if (::fallocate(memory_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes_)) != 0)
      bench::fail("fallocate");
  }

 private:
  std::size_t bytes_;
  int memory_;
  std::byte* data_ = nullptr;
};

class side final : public bench::ucx_receiver {
 public:
  side(bench::ucx_link& link, std::size_t bytes) : link_(link), memory_(bytes), bytes_(bytes) {
    link.receive_with(*this);
  }

  std::byte* place(std::span<const std::byte> head) override {
    std::size_t offset;
    std::memcpy(&offset, head.data(), sizeof offset);
    return memory_.data() + offset;
  }
  void on_message(std::span<const std::byte> head, std::span<const std::byte> payload) override {
    std::byte* const to = place(head);
    if (to != payload.data()) std::memcpy(to, payload.data(), payload.size());
    received_ += payload.size();
  }

  void send_all(std::size_t message_bytes) {
    std::vector<std::size_t> offsets(bytes_ / message_bytes);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      offsets[i] = i * message_bytes;
      while (link_.pending() >= most_pending) link_.progress();
      link_.send(std::as_bytes(std::span(&offsets[i], 1)), {memory_.data() + offsets[i], message_bytes});
      link_.progress();
    }
    while (link_.pending() != 0) link_.progress();
  }
  void receive_all() {
    received_ = 0;
    while (received_ < bytes_) link_.progress();
  }
  void discard() const { memory_.discard(); }

 private:
  bench::ucx_link& link_;
  buffer memory_;
  std::size_t bytes_, received_ = 0;
};

/// Megabytes a second with messages of one size; the receiver's clock.
double transfer(const bench::peer& other, side& here, const settings& wanted, std::size_t message_bytes) {
  if (!other.measures()) {
    other.meet();
    here.send_all(message_bytes);
    other.meet();
    return 0;
  }
  if (wanted.fresh) here.discard();
  other.meet();
  const auto start = bench::now_ns();
  here.receive_all();
  const auto ns = static_cast<double>(bench::now_ns() - start);
  other.meet();
  return static_cast<double>(wanted.mebibytes << 20) / ns * 1000;
}

void run(const settings& wanted) {
  const bench::peer other;
  bench::ucx_link link(other, wanted.transport);
  side here(link, wanted.mebibytes << 20);
  bench::samples best("bandwidth", "MB/s");
  for (std::size_t size = smallest; size <= largest; size *= 2) {
    bench::samples taken("bandwidth_" + std::to_string(size / 1024) + "k", "MB/s");
    for (std::uint64_t round = 0; round < wanted.rounds; ++round) taken.add(transfer(other, here, wanted, size));
    if (!other.measures()) continue;
    taken.print();
    if (best.empty() || taken.median() > best.median()) best = taken.renamed("bandwidth");
  }
  if (other.measures()) best.print();
  link.flush();
  other.meet();
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("The bandwidth of the bare transport. Start it as `pair floor_bandwidth`.");
  here.add_transport(wanted.transport);
  here.add_number("--mebibytes", wanted.mebibytes, 2, 1 << 14, "memory to move");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "times with each size");
  here.add_flag("--fresh", wanted.fresh, "receive into memory that was never touched");
  return here.run(argc, argv, [&] { run(wanted); });
}
