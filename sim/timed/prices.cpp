// SPDX-License-Identifier: BSD-3-Clause
#include "sim/timed/prices.hpp"

#include <stdexcept>

namespace quire::timed {

namespace {
constexpr price_option options[] = {
    {"--latency-ns", &prices::latency_ns, "first byte of a message, from link to link"},
    {"--bandwidth-mbs", &prices::link_mbs, "of a node's link, each way, 10^6 bytes a second; 0: no limit"},
    {"--send-ns", &prices::send_ns, "processor time of a message at its sender"},
    {"--receive-ns", &prices::receive_ns, "and at its receiver, the protocol's step included"},
    {"--copy-out-mbs", &prices::copy_out_mbs, "rate at which the sender copies a payload; 0: it does not"},
    {"--copy-in-mbs", &prices::copy_in_mbs, "and the receiver"},
    {"--spin-ns", &prices::spin_ns, "a node that has nothing to do for so long sleeps"},
    {"--wake-ns", &prices::wake_ns, "and takes so long to wake"},
    {"--poll-ns", &prices::poll_ns, "a message for a node whose thread computes lies so long before anybody looks"},
    {"--slice-ns", &prices::slice_ns, "with --cores: a thread computes so long while others wait"},
    {"--steal-ns", &prices::steal_ns,
     "with --cores: time of a core that a runtime takes beyond its work, when it was woken"},
    {"--wake-late-ns", &prices::wake_late_ns, "with --cores: to wake takes so much longer beside threads that compute"},
    {"--follow-up-ns", &prices::follow_up_ns, "who has served something looks on for so long"},
    {"--fault-ns", &prices::fault_ns, "from a thread's access to the runtime"},
    {"--resume-ns", &prices::resume_ns, "and back"},
    {"--permit-ns", &prices::permit_ns, "to map units in a row, for the call"},
    {"--permit-page-ns", &prices::permit_page_ns, "and for each 4 KiB"},
    {"--protect-ns", &prices::protect_ns, "to protect or unmap units in a row, for the call"},
    {"--protect-page-ns", &prices::protect_page_ns, "and for each 4 KiB"},
    {"--twin-page-ns", &prices::twin_page_ns, "to make a twin, for each 4 KiB"},
    {"--diff-page-ns", &prices::diff_page_ns, "to find what differs from a twin, for each 4 KiB"},
    {"--apply-page-ns", &prices::apply_page_ns, "to write a diff into the home's content, for each 4 KiB"},
    {"--notice-ns", &prices::notice_ns, "to tell or hear a write notice"},
    {"--begin-ns", &prices::begin_ns, "to begin a transaction"},
    {"--copy-page-ns", &prices::copy_page_ns, "to make a private copy, for each 4 KiB"},
    {"--publish-page-ns", &prices::publish_page_ns, "to copy it to the frame at a commit, for each 4 KiB"},
    {"--drop-page-ns", &prices::drop_page_ns, "to give it back, for each 4 KiB"},
};
}  // namespace

std::span<const price_option> price_options() noexcept { return options; }

prices preset(const std::string& name) {
  prices p;
  if (name == "shm") return p;
  if (name == "tcp") {  // 8 to 9 us for 64 bytes and back, 40 with 64 KiB as the reply
    p.latency_ns = 1'500;
    p.link_mbs = 2'000;
    p.send_ns = 1'500;
    p.receive_ns = 1'300;
    p.copy_out_mbs = p.copy_in_mbs = 0;  // in what the link takes
    p.wake_ns = 7'000;
    return p;
  }
  if (name == "ib") {  // 100 Gbit/s, no copies
    p.latency_ns = 1'000;
    p.link_mbs = 12'000;
    p.send_ns = p.receive_ns = 300;
    p.copy_out_mbs = p.copy_in_mbs = 0;
    return p;
  }
  // 1500 bytes travel as 1538, of which 1448 are a program's: 94 % of the rate.
  if (name == "gigabit" || name == "ethernet100") {
    const bool fast = name == "gigabit";
    p.latency_ns = fast ? 20'000 : 40'000;  // two adapters and a switch that stores each frame
    p.link_mbs = fast ? 118 : 12;
    p.send_ns = p.receive_ns = 3'000;
    p.copy_out_mbs = 8'000;
    p.copy_in_mbs = 8'000;
    p.wake_ns = 7'000;
    return p;
  }
  throw std::invalid_argument("no such network: " + name);
}

}  // namespace quire::timed
