// SPDX-License-Identifier: BSD-3-Clause
// quire_network: what the network between two hosts costs, as a file for `quire predict --network`. Started on nodes of
// two hosts or more, by whichever launcher; `quire bench network` does. Node 0 and the first node of another host
// measure; the others wait. How long a message takes is that of calls of Quire that are answered at once; how much of
// it is processor time, and what a link carries, is that of a connection of its own. Both ends look for messages all
// the time, as threads of Quire do that wait: to wake one that sleeps is measured by itself.
#include <quire/quire.hpp>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.hpp"
#include "common/program.hpp"
#include "network/line.hpp"

namespace {

using bench::network::line;
using bench::network::place;

constexpr std::size_t message_bytes = 128;  // as a message of Quire that brings no content
constexpr std::uint64_t stream_piece = 1 << 18;

struct settings {
  std::string output;
  double seconds = 8;  // all of it
};
/// Processor time of a message at one of its ends, in us.
struct cost {
  double soon_us = 0;   ///< where the one before was just now
  double later_us = 0;  ///< after other work, as in a program: its code and data have left the core's caches
};
/// In microseconds, and 10^6 bytes a second.
struct measured {
  cost send, receive;
  double beside_us = 0;  ///< for so long a message keeps a core of either host from the thread that sends or takes it
  double half_us = 0, wake_us = 0, megabytes = 0;
  std::uint64_t round_trips = 0;
};

double thread_us() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}
/// For how long the calling thread has been ready and had no core; 0 where the system does not say it.
double waited_for_core_us() {
  const quire::os::descriptor file(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text{};  // "processor time, time waited, slices", in ns
  unsigned long long used = 0, waited = 0;
  if (!file.open() || ::read(file.number(), text.data(), text.size() - 1) <= 0) return 0;
  return std::sscanf(text.data(), "%llu %llu", &used, &waited) == 2 ? static_cast<double>(waited) / 1e3 : 0;
}
/// What another program delays on these machines is none of the network: the slowest tenth does not count. Of the
/// others the mean, since a program takes the sum of them.
double usual(std::vector<double>& all) {
  if (all.empty()) return 0;
  const std::size_t counted = std::max<std::size_t>(1, all.size() * 9 / 10);
  std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(counted - 1));
  return std::accumulate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(counted), 0.0) /
         static_cast<double>(counted);
}

constexpr std::size_t little_work = 1 << 19;
constexpr std::size_t other_work = 1 << 22;  // more than the caches that a core has to itself

/// Reads so many bytes, at most `other_work`: a message among other work finds caches that hold something else.
void work_between(std::size_t bytes) {
  static std::vector<std::uint64_t> memory(other_work / sizeof(std::uint64_t), 1);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes / sizeof sum; i += 8) sum += memory[i];
  memory[0] = sum;
}

enum class word : std::uint8_t { echo, burst, stream, done };
struct request {
  word what = word::done;
  std::uint64_t number = 0;
};
using frame = std::array<std::byte, message_bytes>;

void say(line& to, const request& r) {
  frame f{};
  std::memcpy(f.data(), &r, sizeof r);
  to.send(f);
}

/// Does what the other end asks for, until it is done.
void serve(line& other) {
  for (frame f{};;) {
    other.receive(f);
    request asked;
    std::memcpy(&asked, f.data(), sizeof asked);
    switch (asked.what) {
      case word::echo:
        other.send(f);
        break;
      case word::burst:
        for (std::uint64_t i = 0; i < asked.number; ++i) other.send(f);
        break;
      case word::stream:
        other.drop(asked.number);
        other.send(f);
        break;
      case word::done:
        return;
    }
  }
}

/// The processor time of a message where it leaves; and what each of two messages, there and back, keeps a core from
/// the thread: what the kernel does apart from the calls, or a program through which packets go.
double sending_us(line& other, double seconds, std::size_t work, double& beside_us) {
  std::vector<double> sends, lacked;
  const std::uint64_t end = bench::now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
  frame f{};
  while (bench::now_ns() < end) {
    const double without = waited_for_core_us();
    work_between(work);
    const double before = thread_us();
    say(other, {word::echo, 0});
    sends.push_back(thread_us() - before);
    other.receive(f);
    lacked.push_back(waited_for_core_us() - without);
  }
  beside_us = usual(lacked) / 2;
  return usual(sends);
}

/// The processor time of a message that has come: looking, and taking it.
double receiving_us(line& other, double seconds, std::size_t work) {
  constexpr std::uint64_t many = 32;
  std::vector<double> takes;
  const std::uint64_t end = bench::now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
  do {
    say(other, {word::burst, many});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (std::uint64_t i = 0; i < many; ++i) {
      frame f{};
      work_between(work);
      const double before = thread_us();
      other.receive(f);
      takes.push_back(thread_us() - before);
    }
  } while (bench::now_ns() < end);
  return usual(takes);
}

/// Seconds until so many bytes are there, and an answer has come.
double stream_s(line& other, std::uint64_t bytes) {
  static const std::vector<std::byte> piece(stream_piece);
  const std::uint64_t before = bench::now_ns();
  say(other, {word::stream, bytes});
  for (std::uint64_t left = bytes; left != 0; left -= std::min(left, stream_piece))
    other.send(std::span(piece).first(std::min(left, stream_piece)));
  frame f{};
  other.receive(f);
  return static_cast<double>(bench::now_ns() - before) / 1e9;
}

/// The best of several streams: what another program delays is none of the network.
void measure_stream(line& other, double seconds, measured& to) {
  constexpr int streams = 6;
  std::uint64_t bytes = 4 * stream_piece;  // it grows until it takes long enough: first pieces are slower
  double took = stream_s(other, bytes);
  while (took < seconds / streams / 4 && bytes < std::uint64_t{1} << 44) took = stream_s(other, bytes *= 2);
  bytes =
      std::max(stream_piece, static_cast<std::uint64_t>(seconds / (streams + 1) * static_cast<double>(bytes) / took));
  for (int i = 0; i < streams; ++i) took = i == 0 ? stream_s(other, bytes) : std::min(took, stream_s(other, bytes));
  to.megabytes = static_cast<double>(bytes) / took / 1e6;
}

measured measure(line& other, double seconds) {
  measured m;
  (void)sending_us(other, seconds / 8, little_work, m.beside_us);  // connections are slow at first
  m.send.soon_us = sending_us(other, seconds / 8, little_work, m.beside_us);
  m.send.later_us = sending_us(other, seconds / 8, other_work, m.beside_us);
  m.receive = {receiving_us(other, seconds / 16, little_work), receiving_us(other, seconds / 16, other_work)};
  measure_stream(other, seconds / 2, m);
  say(other, {word::done, 0});
  return m;
}

// ---- Calls of Quire

void compute_until(std::uint64_t ns) {
  while (bench::now_ns() < ns) bench::cpu_relax();
}

/// What a call takes that is done where the word is, in us.
double call_us(std::uint64_t* word, double seconds, std::uint64_t pause_ns, std::uint64_t& calls) {
  std::vector<double> took;
  const std::uint64_t end = bench::now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
  while (bench::now_ns() < end) {
    work_between(little_work);
    const std::uint64_t before = bench::now_ns();
    (void)quire::atomic_ref(*word).fetch_add(1);
    const std::uint64_t now = bench::now_ns();
    took.push_back(static_cast<double>(now - before) / 1e3);
    if (pause_ns != 0) compute_until(now + pause_ns);
  }
  calls = took.size();
  return usual(took);
}

/// A word of a node, on a page of its own.
std::uint64_t* word_of(int node) {
  auto* const made = quire::from_node(node, [] {
    void* at = nullptr;
    if (quire_aligned_alloc(4096, 4096, &at) != QUIRE_OK) throw std::runtime_error(quire_last_error());
    *static_cast<std::uint64_t*>(at) = 1;  // it is with who has written it
    return static_cast<std::uint64_t*>(at);
  });
  return made;
}

/// Half a round trip where both ends look, and by how much longer it takes where the other end computes. Of all nodes.
void measure_calls(int self, int peer, double seconds, measured& to) {
  constexpr std::uint64_t pause_ns = 500'000, margin_ns = 100'000'000;
  std::uint64_t* const own = word_of(0);
  std::uint64_t* const there = word_of(peer);
  quire::barrier all;
  all.arrive_and_wait();
  double here_us = 0, round_us = 0, woken_us = 0;
  std::uint64_t ignored = 0;
  work_between(other_work);  // its memory is there from now on
  if (self == 0) {
    (void)call_us(own, 0.01, 0, ignored);  // the first call has the page come
    here_us = call_us(own, 0.01, 0, ignored);
    round_us = call_us(there, seconds / 2, 0, to.round_trips);
  }
  all.arrive_and_wait();
  const std::uint64_t begin = bench::now_ns();
  if (self == peer) compute_until(begin + static_cast<std::uint64_t>(seconds / 2 * 1e9) + margin_ns);
  if (self == 0) {
    compute_until(begin + margin_ns / 2);
    woken_us = call_us(there, seconds / 2, pause_ns, ignored);
  }
  all.arrive_and_wait();
  to.half_us = std::max(0.0, round_us - here_us) / 2;
  to.wake_us = std::max(0.0, woken_us - round_us);
}

// ---- All of it

/// One end measures, then the other one: what is told is the mean.
measured both(measured a, const measured& b) {
  for (const auto end : {&measured::send, &measured::receive}) {
    (a.*end).soon_us = ((a.*end).soon_us + (b.*end).soon_us) / 2;
    (a.*end).later_us = ((a.*end).later_us + (b.*end).later_us) / 2;
  }
  a.beside_us = (a.beside_us + b.beside_us) / 2;
  a.megabytes = std::min(a.megabytes, b.megabytes);
  return a;
}

std::string number(double value) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

/// As tools/predict/network.cpp reads it. What of half a round trip no processor has had is the latency: in those that
/// were measured one call followed the other. Where hosts share a machine, a message may be there before its sender has
/// done with it. Whoever was woken was called after other work.
std::string text_of(const measured& m, const place& a, const place& b) {
  const double latency = std::max(0.0, m.half_us - m.send.soon_us - m.receive.soon_us);
  const double wake = std::max(0.0, m.wake_us - std::max(0.0, m.send.later_us - m.send.soon_us));
  std::string text = "# a network, for `quire predict --network`: ";
  text += std::string(a.host.data()) + " and " + b.host.data() + ", by TCP\n";
  text += "# half of a call and its answer takes " + number(m.half_us) +
          " us: the mean of the fastest nine tenths of " + std::to_string(m.round_trips) + "\n";
  text += "latency_us " + number(latency) + "\nsend_us " + number(m.send.later_us) + "\nreceive_us " +
          number(m.receive.later_us) + "\nwake_us " + number(wake) + "\nbeside_us " + number(m.beside_us) +
          "\nmegabytes_a_second " + number(m.megabytes) + "\n";
  return text;
}

void write(const std::string& file, const std::string& text) {
  if (file.empty()) {
    (void)std::fputs(text.c_str(), stdout);
    return;
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> to(std::fopen(file.c_str(), "we"), &std::fclose);
  if (to == nullptr || std::fputs(text.c_str(), to.get()) < 0 || std::fflush(to.get()) != 0)
    throw std::runtime_error("cannot write " + file + ": " + std::strerror(errno));
}

bool same_host(const place& a, const place& b) { return std::strcmp(a.host.data(), b.host.data()) == 0; }

void run(const settings& wanted) {
  const quire::session job;
  const bench::network::listener here;
  std::vector<place> places;
  for (int node = 0; node < job.nodes(); ++node) {
    std::array<place, 1> one{here.where()};
    quire::broadcast_values(std::span<place>(one), node);
    places.push_back(one[0]);
  }
  const auto other = std::ranges::find_if(places, [&](const place& p) { return !same_host(p, places[0]); });
  if (other == places.end())
    throw std::runtime_error(
        job.nodes() == 1
            ? "one node alone: start it with `quire bench network --hosts a,b`, or in a launcher's job on two hosts"
            : std::string("all nodes are on host ") + places[0].host.data() + ": a network is between two");
  const auto peer = static_cast<int>(other - places.begin());
  const auto known = quire::broadcast(bench::network::new_token());
  const bool asks = job.node() == 0, takes_part = asks || job.node() == peer;
  measured mine, calls;
  measure_calls(job.node(), peer, wanted.seconds / 4, calls);
  if (takes_part) {
    line to_other(asks ? bench::network::connect(*other, known, 5) : here.accept(known, 30));
    if (!asks) serve(to_other);
    mine = measure(to_other, wanted.seconds * 3 / 8);
    if (asks) serve(to_other);
  }
  const measured theirs = quire::broadcast(mine, peer);
  if (asks) {
    measured all = both(mine, theirs);
    all.half_us = calls.half_us;
    all.wake_us = calls.wake_us;
    all.round_trips = calls.round_trips;
    write(wanted.output, text_of(all, places[0], *other));
  }
  quire::barrier{}.arrive_and_wait();
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("What the network between two hosts costs, as a file for `quire predict --network`.");
  here.add_text("--output", wanted.output, "this file, on the host of node 0 (default: standard output)");
  here.add_seconds("--seconds", wanted.seconds, "how long to measure");
  return here.run(argc, argv, [&] { run(wanted); });
}
