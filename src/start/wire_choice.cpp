// SPDX-License-Identifier: BSD-3-Clause
#include "start/wire_choice.hpp"

#include <cstdlib>

#include "base/log.hpp"
#include "os/machine.hpp"
#include "os/own_thread.hpp"
#include "transport/loopback/loopback.hpp"
#include "transport/open.hpp"

namespace quire::api {

std::string_view wire_choice::kind() const noexcept {
  static constexpr std::string_view kinds[] = {"auto", "shm", "tcp"};
  return kinds[options_.number(base::option::transport)];
}

bool wire_choice::is_by_memory() const noexcept { return kind() != "tcp" && std::getenv("UCX_TLS") == nullptr; }

bool wire_choice::can_be_tcp() const { return transport::can_be_tcp_instead(kind(), all_local_); }

base::status wire_choice::open() {
  if (job_.nodes() == 1) {
    opened_ = transport::loopback::open(std::make_shared<transport::loopback::hub>(1), model::node_id{0});
    return {};
  }
  // Before anything listens.
  os::thread_reserve threads;
  if (!threads.take()) return QUIRE_NO_MEMORY;
  const auto secret = bootstrap::agree_on_secret(job_);
  if (!secret.ok()) return secret.why();
  threads.release();
  secret_ = secret.value();
  const auto why = open(kind());
  // The others have to hear of it: they may have what this node has not.
  return can_be_tcp() ? base::status{} : why;
}

base::status wire_choice::open(std::string_view kind) {
  opened_.reset();
  now_ = kind;
  transport::wanted what;
  what.kind = kind;
  what.nodes = static_cast<unsigned>(job_.nodes());
  what.all_local = kind == "tcp" ? by_loopback_ : all_local_;
  what.devices = options_.text(base::option::net_devices);
  what.job = secret_;
  what.outlives_peers = outlives();
  what.system_ucx = options_.choice<base::ucx_choice>(base::option::ucx) == base::ucx_choice::system;
  what.encrypts = options_.flag(base::option::encrypt);
  if (const auto& text = options_.text(base::option::delay); !text.empty()) {
    what.delay = transport::delayed::link_of(text);
    if (!what.delay) {
      base::log(base::log_level::error, "QUIRE_DELAY=%s: microseconds, MB/s and nodes of a host, as in 50:118:1",
                text.c_str());
      return QUIRE_BAD_OPTION;
    }
  }
  what.host = job_.local_nodes() > 1 ? os::memory_place_of_process() : 0;
  auto got = transport::open(what);
  if (!got.ok()) return got.why();
  opened_ = std::move(got.value());
  return {};
}

base::status wire_choice::open_instead(const std::string& why, const std::string& help) {
  if (!can_be_tcp()) {
    base::log(base::log_level::error, "%s, and transport %s was asked for here%s%s", why.c_str(), kind().data(),
              help.empty() ? "" : ". ", help.c_str());
    return QUIRE_UNSUPPORTED;
  }
  if (job_.node() == 0)
    base::log(base::log_level::warning, "%s: all nodes use TCP, which is slower%s%s", why.c_str(),
              help.empty() ? "" : ". ", help.c_str());
  why_tcp_ = why + (help.empty() ? "" : ". ") + help;
  return open("tcp");
}

base::status wire_choice::meet(introductions& others, const introduction& mine) {
  if (const auto s = others.make(job_, address(), mine); !s.ok()) return s;
  if (job_.nodes() == 1) return {};
  const bool memory = is_memory();
  const auto apart = others.why_apart(all_local_);
  by_loopback_ = all_local_ && others.share_loopback();
  if (const std::size_t node = others.without_address(); node < static_cast<std::size_t>(job_.nodes())) {
    if (const auto s = open_instead("node " + std::to_string(node) + " has no shared memory for messages", ""); !s.ok())
      return s;
  } else if (memory && apart.by_namespaces) {
    if (const auto s = open_instead(apart.why, apart.help); !s.ok()) return s;
  } else if (!memory && all_local_ && !by_loopback_) {
    if (const auto s = open("tcp"); !s.ok()) return s;
  } else {
    if (all_local_ || kind() == "tcp") return {};
    why_tcp_ = apart.why.empty() ? "the nodes are on several hosts" : apart.why + ". " + apart.help;
    if (apart.by_namespaces && job_.node() == 0)
      base::log(base::log_level::warning, "%s: they use TCP, which is slower. %s", apart.why.c_str(),
                apart.help.c_str());
    return {};
  }
  return others.make(job_, address(), mine);
}

wire_account wire_choice::account() const {
  if (job_.nodes() == 1) return {};
  if (const char* const of_user = std::getenv("UCX_TLS"); of_user != nullptr && !(is_memory() && outlives()))
    return {"ucx", std::string("UCX_TLS=") + of_user + " of the environment"};
  if (is_memory()) return {"shm", ""};
  const std::string why = why_tcp_.empty() ? "as was asked for (QUIRE_TRANSPORT)" : why_tcp_;
  return {"tcp", why + (options_.flag(base::option::encrypt) ? "; they are encrypted" : "")};
}

}  // namespace quire::api
