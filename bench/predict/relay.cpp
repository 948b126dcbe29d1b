// SPDX-License-Identifier: BSD-3-Clause
// predict_relay: a wire with a latency between two network namespaces, for check.py. It makes a TUN device "eth0" in
// each, takes what leaves by one, holds it for --hold-us and for what its bytes take, and hands it to the other one. It
// says "ready" when both are there, and goes with its standard input. Large packets pass whole (TSO), so that a byte
// costs little. Takes root; a kernel needs nothing but TUN (netem is often not there).
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/program.hpp"
#include "os/process.hpp"

namespace {

using quire::os::descriptor;
constexpr std::size_t largest = (1 << 16) + 512;  // a packet that is cut by its receiver's kernel, and its header
constexpr std::size_t most_held = 1024;           // of one direction; what is more waits in the device

struct settings {
  std::string from, to;  ///< names of namespaces
  std::uint64_t hold_us = 0, megabits = 0;
};

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

descriptor open_device(const std::string& name_of_namespace) {
  const descriptor inside(::open(("/run/netns/" + name_of_namespace).c_str(), O_RDONLY | O_CLOEXEC));
  if (!inside.open()) fail("network namespace " + name_of_namespace);
  if (::setns(inside.number(), CLONE_NEWNET) != 0) fail("setns");
  descriptor device(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!device.open()) fail("/dev/net/tun");
  ifreq what{};
  std::strncpy(what.ifr_name, "eth0", sizeof what.ifr_name - 1);
  what.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  if (::ioctl(device.number(), TUNSETIFF, &what) != 0) fail("TUNSETIFF");
  int header = 10;  // of struct virtio_net_hdr, whose file is none for C++
  if (::ioctl(device.number(), TUNSETVNETHDRSZ, &header) != 0) fail("TUNSETVNETHDRSZ");
  if (::ioctl(device.number(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) != 0) fail("TUNSETOFFLOAD");
  return device;
}

/// From one device to the other one, in order.
class direction {
 public:
  direction(int in, int out, const settings& wanted)
      : in_(in), out_(out), hold_ns_(wanted.hold_us * 1000), megabits_(wanted.megabits) {}
  [[nodiscard]] int in() const { return in_; }
  [[nodiscard]] bool has_room() const { return held_.size() < most_held; }
  /// When the first one is due; 0: nothing is held.
  [[nodiscard]] std::uint64_t due_ns() const { return held_.empty() ? 0 : held_.front().due_ns; }
  void take() {
    while (has_room()) {
      packet next = free_.empty() ? packet{} : std::move(free_.back());
      if (!free_.empty()) free_.pop_back();
      next.bytes.resize(largest);
      const ssize_t n = ::read(in_, next.bytes.data(), next.bytes.size());
      if (n <= 0) {
        if (n < 0 && errno != EAGAIN && errno != EINTR) fail("reading from a device");
        free_.push_back(std::move(next));
        return;
      }
      next.length = static_cast<std::size_t>(n);
      free_ns_ = std::max(bench::now_ns(), free_ns_) + (megabits_ == 0 ? 0 : next.length * 8000 / megabits_);
      next.due_ns = free_ns_ + hold_ns_;
      held_.push_back(std::move(next));
    }
  }
  void hand_over(std::uint64_t now) {
    for (; !held_.empty() && held_.front().due_ns <= now; held_.pop_front()) {
      // A device whose address is still to come refuses: such packets are lost, as on a wire that is not plugged in.
      (void)!::write(out_, held_.front().bytes.data(), held_.front().length);
      free_.push_back(std::move(held_.front()));
    }
  }

 private:
  struct packet {
    std::vector<char> bytes{};
    std::size_t length = 0;
    std::uint64_t due_ns = 0;
  };
  int in_, out_;
  std::uint64_t hold_ns_, megabits_;
  std::uint64_t free_ns_ = 0;  ///< one packet after the other is on the wire
  std::deque<packet> held_{};
  std::vector<packet> free_{};
};

/// By how much a sleep ends too late here: it is begun so much shorter. Nobody spins: the nodes need the cores.
std::uint64_t lateness_ns() {
  constexpr std::uint64_t asked = 50'000;
  std::vector<std::uint64_t> late;
  for (int i = 0; i < 200; ++i) {
    const timespec limit{0, asked};
    const std::uint64_t before = bench::now_ns();
    (void)::ppoll(nullptr, 0, &limit, nullptr);
    late.push_back(bench::now_ns() - before - asked);
  }
  std::ranges::sort(late);
  return late[late.size() / 2];
}

/// Until something comes, or what is held is due: a shorter sleep than one that ends late is none.
void wait(const std::array<direction*, 2>& both, std::uint64_t late_ns, bool& ended) {
  std::uint64_t due = 0;
  std::array<pollfd, 3> entries{{{STDIN_FILENO, POLLIN, 0}}};
  for (std::size_t i = 0; i < both.size(); ++i) {
    entries[i + 1] = {both[i]->in(), static_cast<short>(both[i]->has_room() ? POLLIN : 0), 0};
    if (const auto one = both[i]->due_ns(); one != 0 && (due == 0 || one < due)) due = one;
  }
  const std::uint64_t now = bench::now_ns(), left = due > now + late_ns ? due - now - late_ns : 0;
  const timespec limit{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  if (due != 0 && due <= now) return;
  if (::ppoll(entries.data(), entries.size(), due == 0 ? nullptr : &limit, nullptr) < 0 && errno != EINTR)
    fail("ppoll");
  ended = (entries[0].revents & (POLLIN | POLLHUP)) != 0;
}

void run(const settings& wanted) {
  const descriptor outside(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  const descriptor a = open_device(wanted.from), b = open_device(wanted.to);
  if (!outside.open() || ::setns(outside.number(), CLONE_NEWNET) != 0) fail("setns");
  direction there(a.number(), b.number(), wanted), back(b.number(), a.number(), wanted);
  sched_param first{};
  first.sched_priority = 1;
  (void)::sched_setscheduler(0, SCHED_FIFO, &first);  // it works for microseconds, and others compute
  ::prctl(PR_SET_TIMERSLACK, 1ul);
  const std::uint64_t late_ns = lateness_ns();
  std::puts("ready");
  std::fflush(stdout);
  for (bool ended = false; !ended;) {
    wait({&there, &back}, late_ns, ended);
    for (direction* one : {&there, &back}) {
      one->take();
      one->hand_over(bench::now_ns());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("A wire with a latency between two network namespaces (bench/predict/check.py).");
  here.add_text("--from", wanted.from, "a network namespace, by its name");
  here.add_text("--to", wanted.to, "another one");
  here.add_number("--hold-us", wanted.hold_us, 0, 1'000'000, "for so long a packet is on its way");
  here.add_number("--megabits", wanted.megabits, 0, 1'000'000, "so many pass in a second, each way; 0: no limit");
  return here.run(argc, argv, [&] { run(wanted); });
}
