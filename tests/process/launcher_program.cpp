// SPDX-License-Identifier: BSD-3-Clause
// A node for launcher_test: start-up alone, without the runtime. The first argument says what it does.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bootstrap/bootstrap.hpp"

namespace {

using quire::bootstrap::bootstrap;
using quire::bootstrap::news;

/// What `node` gives to the others: bytes that all can check.
std::vector<std::byte> address_of(int node, std::size_t bytes) {
  return std::vector<std::byte>(bytes + static_cast<std::size_t>(node % 7), static_cast<std::byte>(node + 1));
}

void tell_news(const news& heard) {
  const char* kind = heard.what == news::kind::node_died  ? "node_died"
                     : heard.what == news::kind::job_ends ? "job_ends"
                                                          : "nothing";
  std::printf("news: %s %d \"%s\"\n", kind, heard.node, heard.text.c_str());
}

int exchange(bootstrap& job, std::size_t bytes) {
  const auto all = job.exchange(address_of(job.node(), bytes));
  if (!all.ok()) {
    std::printf("exchange: status %d\n", all.why().code());
    tell_news(job.poll_news());
    return 40;
  }
  for (int node = 0; node < job.nodes(); ++node)
    if (all.value().at(static_cast<std::size_t>(node)) != address_of(node, bytes)) return 41;
  return 0;
}

/// Waits for news, at most a minute, and tells it.
int wait_for_news(bootstrap& job) {
  std::printf("ready\n");
  std::fflush(stdout);
  news heard;
  for (int i = 0; i < 600 && heard.what == news::kind::nothing; ++i) {
    pollfd entry{job.descriptor(), POLLIN, 0};
    ::poll(&entry, 1, 100);
    heard = job.poll_news();
  }
  tell_news(heard);
  return 42;
}

void leave(bootstrap& job) {
  job.leave("{\"faults\": " + std::to_string(10 * (job.node() + 1)) + ", \"constant\": 7" +
            (job.node() == 1 ? ", \"only_one\": -3}" : "}"));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  const char* place = std::getenv("QUIRE_JOB_NODE");
  if (what == "absent" && place != nullptr && std::atoi(place) == number) return 0;

  auto joined = quire::bootstrap::join();
  if (!joined.ok()) return 43;
  bootstrap& job = *joined.value();
  if (what == "environment") {
    for (const char* name : {"QUIRE_JOB_FD", "QUIRE_JOB_NODE", "QUIRE_JOB_NODES", "QUIRE_JOB_LOCAL", "QUIRE_RENDEZVOUS",
                             "QUIRE_RANK", "QUIRE_SIZE", "QUIRE_SECRET"})
      if (std::getenv(name) != nullptr) return 44;
    leave(job);
    ::execlp("ls", "ls", "/proc/self/fd", nullptr);
    return 45;
  }
  if (what == "stubborn") {  // whatever it hears, it stays
    ::signal(SIGTERM, SIG_IGN);
    exchange(job, 16);
    if (job.node() == number) ::raise(SIGKILL);
    ::poll(nullptr, 0, 60'000);
    return 46;
  }
  if (const int failed = exchange(job, what == "exchange" ? static_cast<std::size_t>(number) : 16); failed != 0)
    return failed;
  const bool chosen = job.node() == number;
  if (what == "exchange") {
    if (const int failed = exchange(job, 3); failed != 0) return failed;  // and once more
    std::printf("node %d of %d, %d here\n", job.node(), job.nodes(), job.local_nodes());
  } else if (what == "address") {
    std::printf("main is at %p\n", reinterpret_cast<void*>(&main));
  } else if (what == "killed") {
    if (chosen) ::raise(SIGKILL);
    return wait_for_news(job);
  } else if (what == "news") {
    return wait_for_news(job);
  } else if (what == "unleft") {
    return chosen ? 0 : wait_for_news(job);
  } else if (what == "replaced") {
    if (chosen) ::execlp("sleep", "sleep", "60", nullptr);
    return wait_for_news(job);
  } else if (what == "late") {  // fails after leaving, while the others go on
    leave(job);
    if (chosen) return 5;
    ::poll(nullptr, 0, 300);
    std::printf("finished\n");
    return 0;
  }
  leave(job);
  return 0;
}
