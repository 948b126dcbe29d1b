// SPDX-License-Identifier: BSD-3-Clause
// A node whose launcher speaks PMIx. Start and end by one application thread, descriptor and poll_news by the service
// thread in between. Addresses go by put, commit, a fence that collects, and get.
//
// Deaths are told by the launcher's events where it sends them, by the processes themselves on this host, and by the
// transport between hosts. leave() closes PMIx, after which the launcher takes the end of the process for no accident.
#include "bootstrap/pmix/join.hpp"

#include <cstdlib>

#include "base/log.hpp"

#ifdef QUIRE_HAVE_PMIX
#include <sys/epoll.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <thread>
#include <utility>

#include "base/options.hpp"
#include "bootstrap/peers.hpp"
#include "bootstrap/pmix/library.hpp"
#include "bootstrap/pmix/mailbox.hpp"
#include "os/foreign_library.hpp"
#include "os/signals_held.hpp"
#endif

namespace quire::bootstrap::pmix {
namespace {

bool launched() { return std::getenv("PMIX_NAMESPACE") != nullptr && std::getenv("PMIX_RANK") != nullptr; }

}  // namespace

#ifdef QUIRE_HAVE_PMIX
namespace {

using base::log;
using base::log_level;

/// How long a node waits for the others to give their addresses.
constexpr int exchange_limit_ms = 60'000;
constexpr std::size_t most_address_bytes = 60 << 10;

class member final : public bootstrap {
 public:
  [[nodiscard]] base::status open();
  [[nodiscard]] int node() const noexcept override { return static_cast<int>(self_.rank); }
  [[nodiscard]] int nodes() const noexcept override { return nodes_; }
  [[nodiscard]] int local_nodes() const noexcept override { return local_nodes_; }
  [[nodiscard]] base::result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte> mine) override;
  [[nodiscard]] bool accuse(int, std::uint64_t) noexcept override { return false; }
  [[nodiscard]] bool see_deaths() override;
  void kill(int node) noexcept override { peers_.kill(node); }
  void abort(int exit_status, const std::string& why) noexcept override;
  void leave(std::string_view) noexcept override {
    if (!std::exchange(left_, true)) pmix_->Finalize(nullptr, 0);
  }
  [[nodiscard]] int descriptor() const noexcept override { return epoll_.number(); }
  [[nodiscard]] news poll_news() noexcept override;

 private:
  struct free_value {
    void operator()(pmix_value_t* value) const noexcept;
  };
  using value_pointer = std::unique_ptr<pmix_value_t, free_value>;

  [[nodiscard]] base::status refused(const char* call, pmix_status_t status) const;
  /// What the launcher (for rank PMIX_RANK_WILDCARD) or a node has put under `key`; null if nothing.
  [[nodiscard]] value_pointer get(pmix_rank_t rank, const char* key) const;
  [[nodiscard]] int number_of_job(const char* key) const;
  [[nodiscard]] base::status put(const std::string& key, std::span<const std::byte> mine) const;
  [[nodiscard]] base::status fence() const;
  [[nodiscard]] base::status open_news();
  void watch_local_peers();

  const library* pmix_ = nullptr;
  pmix_proc_t self_{};
  int nodes_ = 1, local_nodes_ = 1, round_ = 0;
  bool left_ = false;
  os::descriptor epoll_;
  std::vector<process_identity> processes_;  ///< of all nodes
  peer_watch peers_;
};

void member::free_value::operator()(pmix_value_t* value) const noexcept {
  if (value->type == PMIX_BYTE_OBJECT) std::free(value->data.bo.bytes);
  if (value->type == PMIX_STRING) std::free(value->data.string);
  std::free(value);
}

base::status member::refused(const char* call, pmix_status_t status) const {
  log(log_level::error, "PMIx_%s: %s", call, pmix_->Error_string(status));
  return QUIRE_SYSTEM;
}

base::status member::open() {
  const auto loaded = load();
  if (!loaded.ok()) return loaded.why();
  pmix_ = loaded.value();
  const os::signals_held signals_blocked;  // PMIx starts a thread
  const os::close_on_exec_scope closed_on_exec;
  if (const auto status = pmix_->Init(&self_, nullptr, 0); status != PMIX_SUCCESS) {
    log(log_level::error,
        "the environment says that a launcher with PMIx has started this process, but it does not answer (%s); without "
        "one, unset PMIX_NAMESPACE and PMIX_RANK",
        pmix_->Error_string(status));
    return QUIRE_SYSTEM;
  }
  nodes_ = number_of_job(PMIX_JOB_SIZE);
  local_nodes_ = number_of_job(PMIX_LOCAL_SIZE);
  if (nodes_ < 1 || nodes_ > base::most_nodes || node() >= nodes_) {
    log(log_level::error, "the launcher says that this is process %d of %d; a job has 1 to %d nodes", node(), nodes_,
        base::most_nodes);
    return QUIRE_INVALID;
  }
  if (local_nodes_ < 1) local_nodes_ = 1;  // it does not tell; TCP serves in any case
  return open_news();
}

base::status member::open_news() {
  epoll_ = os::descriptor(::epoll_create1(EPOLL_CLOEXEC));
  mailbox& box = mailbox::instance();
  if (!epoll_.open() || !box.open().ok() || !peers_.open(epoll_.number()).ok()) return QUIRE_SYSTEM;
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, box.descriptor(), &event) != 0) return QUIRE_SYSTEM;
  pmix_->Register_event_handler(nullptr, 0, nullptr, 0, &mailbox::on_event, nullptr, nullptr);
  return QUIRE_OK;
}

member::value_pointer member::get(pmix_rank_t rank, const char* key) const {
  pmix_proc_t whose = self_;
  whose.rank = rank;
  pmix_info_t limit{};
  std::strncpy(limit.key, PMIX_TIMEOUT, sizeof limit.key - 1);
  limit.value.type = PMIX_INT;
  limit.value.data.integer = exchange_limit_ms / 1000;
  pmix_value_t* value = nullptr;
  if (pmix_->Get(&whose, key, &limit, 1, &value) != PMIX_SUCCESS) return nullptr;
  return value_pointer(value);
}

int member::number_of_job(const char* key) const {
  const auto value = get(PMIX_RANK_WILDCARD, key);
  return value != nullptr && value->type == PMIX_UINT32 ? static_cast<int>(value->data.uint32) : -1;
}

base::status member::put(const std::string& key, std::span<const std::byte> mine) const {
  pmix_value_t value{};
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = reinterpret_cast<char*>(const_cast<std::byte*>(mine.data()));  // PMIx copies it
  value.data.bo.size = mine.size();
  auto status = pmix_->Put(PMIX_GLOBAL, key.c_str(), &value);
  if (status == PMIX_SUCCESS) status = pmix_->Commit();
  return status == PMIX_SUCCESS ? QUIRE_OK : refused("Put", status);
}

/// PMIx's own blocking fence has a time limit only where the launcher takes one.
base::status member::fence() const {
  pmix_info_t collect{};
  std::strncpy(collect.key, PMIX_COLLECT_DATA, sizeof collect.key - 1);
  collect.value.type = PMIX_BOOL;
  collect.value.data.flag = true;
  mailbox& box = mailbox::instance();
  const auto number = reinterpret_cast<void*>(box.begin_fence());
  const auto status = pmix_->Fence_nb(nullptr, 0, &collect, 1, &mailbox::on_fence, number);
  if (status == PMIX_OPERATION_SUCCEEDED) return QUIRE_OK;
  if (status != PMIX_SUCCESS) return refused("Fence", status);
  return box.wait_for_fence(exchange_limit_ms);
}

/// What travels is who this process is, then `mine`.
base::result<std::vector<std::vector<std::byte>>> member::exchange(std::span<const std::byte> mine) {
  if (mine.size() > most_address_bytes) return QUIRE_INVALID;
  const std::string key = "quire." + std::to_string(round_++);
  const auto who = identity_of_this_process();
  std::vector<std::byte> told(sizeof who);
  std::memcpy(told.data(), &who, sizeof who);
  told.insert(told.end(), mine.begin(), mine.end());
  if (const auto status = put(key, told); !status.ok()) return status;
  if (const auto status = fence(); !status.ok()) {
    if (status.code() == QUIRE_TIMED_OUT)
      log(log_level::error, "not all %d nodes have come to quire_start() within %d seconds", nodes_,
          exchange_limit_ms / 1000);
    return status;
  }
  std::vector<std::vector<std::byte>> all;
  for (int node = 0; node < nodes_; ++node) {
    const auto value = get(static_cast<pmix_rank_t>(node), key.c_str());
    if (value == nullptr || value->type != PMIX_BYTE_OBJECT || value->data.bo.size < sizeof who) {
      log(log_level::error, "the launcher does not give the address of node %d", node);
      return QUIRE_SYSTEM;
    }
    const auto* const bytes = reinterpret_cast<const std::byte*>(value->data.bo.bytes);
    all.emplace_back(bytes, bytes + value->data.bo.size);
  }
  for (std::size_t node = 0; round_ == 1 && node < all.size(); ++node)
    std::memcpy(&processes_.emplace_back(), all[node].data(), sizeof who);
  if (round_ == 1) watch_local_peers();
  for (auto& bytes : all) bytes.erase(bytes.begin(), bytes.begin() + sizeof who);
  return all;
}

void member::watch_local_peers() {
  const auto local = get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
  if (local == nullptr || local->type != PMIX_STRING) return;
  const char* at = local->data.string;
  const char* const end = at + std::strlen(at);
  while (at < end) {
    int node = -1;
    at = std::from_chars(at, end, node).ptr + 1;  // past the comma
    if (node >= 0 && node < nodes_) peers_.add(node, processes_[static_cast<std::size_t>(node)]);
  }
}

/// Slurm's plug-in cancels all when a process dies that has not left PMIx. So nodes leave it when they have met, and
/// watch who has started them.
bool member::see_deaths() {
  if (processes_.size() != static_cast<std::size_t>(nodes_)) return false;
  for (int node = 0; node < nodes_; ++node) peers_.add(node, processes_[static_cast<std::size_t>(node)]);
  if (!peers_.reach_others(*this)) return false;
  if (std::strncmp(self_.nspace, "slurm.", 6) != 0) return true;
  if (!peers_.add_launcher()) return false;
  leave({});
  return true;
}

/// The call may wait for a launcher that does not answer either.
void member::abort(int exit_status, const std::string& why) noexcept {
  if (left_) return;
  std::thread([this, exit_status, why] { pmix_->Abort(exit_status, why.c_str(), nullptr, 0); }).detach();
}

news member::poll_news() noexcept {
  if (auto told = mailbox::instance().take_news(); told && !left_) return std::move(*told);
  if (peers_.launcher_has_ended()) return {news::kind::job_ends, -1, "the launcher is gone"};
  if (const int node = peers_.next_dead(); node >= 0)
    return {news::kind::node_died, node, "node " + std::to_string(node) + " has ended without quire_end()"};
  return {};
}

}  // namespace

base::result<std::unique_ptr<bootstrap>> join_launched() {
  if (!launched()) return QUIRE_NOT_FOUND;
  auto joined = std::make_unique<member>();
  if (const auto status = joined->open(); !status.ok()) return status;
  return std::unique_ptr<bootstrap>(std::move(joined));
}

#else

base::result<std::unique_ptr<bootstrap>> join_launched() {
  if (!launched()) return QUIRE_NOT_FOUND;
  base::log(base::log_level::error,
            "a launcher with PMIx has started this process, but this Quire was built without it; build it again where "
            "PMIx is installed (Debian: apt install libpmix-dev)");
  return QUIRE_UNSUPPORTED;
}

#endif

}  // namespace quire::bootstrap::pmix
