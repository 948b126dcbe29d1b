// SPDX-License-Identifier: BSD-3-Clause
#include "engine/engine.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/fault.hpp"
#include "core/region_slot.hpp"
#include "core/store_status.hpp"
#include "os/limits.hpp"
#include "os/memory.hpp"
#include "transport/transport.hpp"

namespace quire::engine {
namespace {

engine* g_engine = nullptr;  // for signal handlers
thread_local constinit detect::lost_unit t_found_lost
    __attribute__((tls_model("initial-exec"))) = {};  // why the last fault was for what cannot be had

bool on_signal(std::uint64_t address, bool write) noexcept {
  return g_engine != nullptr && g_engine->on_fault(address, write, base::now_ns());
}
detect::lost_unit found_lost() noexcept { return std::exchange(t_found_lost, {}); }
bool is_shared(std::uint64_t address) noexcept {
  if (g_engine == nullptr) return false;
  const core::region_map& regions = g_engine->node().regions;
  return address - regions.base() < regions.bytes() || regions.find(address) != nullptr;
}

bool may_run(std::uint64_t address) noexcept {
  if (g_engine == nullptr) return true;
  const core::region_ref r = g_engine->node().regions.find(address);
  if (r == nullptr || r->about.code != 0 || g_engine->node().config.runs(r->about.id)) return true;
  base::log(base::log_level::error, "a thread has jumped to 0x%lx, which is shared memory and no code (region %u)",
            static_cast<unsigned long>(address), unsigned{r->about.id});
  return false;
}

}  // namespace

base::result<std::unique_ptr<pool::pool>> engine::machine::make_pool(const pool::settings& how, std::uint64_t address,
                                                                     std::uint64_t bytes, bool accessible,
                                                                     const pool::fine_views& fine,
                                                                     pool::view_kind view) {
  return pool::make(how, address, bytes, accessible, fine, view);
}

base::result<std::unique_ptr<detect::detector>> engine::machine::open_detector(detect::kind which) {
  return detect::open(which, false, application_);
}

engine::engine(const core::configuration& c, const drive::pace& how, std::unique_ptr<transport::transport> t,
               bootstrap::bootstrap& job)
    : machine_(*c.pool.application), core_(c, std::move(t), job, threads_, machine_), threads_(how, core_, job) {}

engine::~engine() {
  stop();
  if (g_engine == this) {
    detect::remove_signals();
    g_engine = nullptr;
  }
  const auto& c = core_.config;
  if (reserved_) os::unmap(reinterpret_cast<void*>(c.base), c.bytes);
  os::close_descriptor(c.pool.host_file);
}

base::status engine::open() {
  const auto& c = core_.config;
  const bool split =
      c.pool.which == pool::kind::fork;  // the shared range is the application's, and faults come as requests
  if (const auto s = split ? base::status{} : reserve(); !s.ok()) return s;
  if (const auto s = core_.open(); !s.ok() || split) return s;
  g_engine = this;
  return detect::install_signals(on_signal, found_lost, is_shared, may_run);
}

base::status engine::reserve() {
  const auto& c = core_.config;
  int error = 0;
  if (os::reserve(c.bytes, reinterpret_cast<void*>(c.base), error) == nullptr) {
    const std::string why = os::why_no_room(c.base, c.bytes);
    base::log(base::log_level::error, "cannot reserve %lu MiB of addresses at 0x%lx: %s",
              static_cast<unsigned long>(c.bytes >> 20), static_cast<unsigned long>(c.base),
              why.empty() ? std::strerror(error) : why.c_str());
    return QUIRE_NO_ADDRESSES;
  }
  reserved_ = true;
  if (os::has_room(0, c.bytes, error)) return {};
  base::log(base::log_level::error,
            "no addresses for the engine beside the %lu MiB of the shared range: %s%s; set QUIRE_RANGE to less, as "
            "`quire info` says",
            static_cast<unsigned long>(c.bytes >> 20), std::strerror(error), os::explain_error(error).text);
  return QUIRE_NO_ADDRESSES;
}

void engine::hold_threads() noexcept {
  if (g_engine == this) detect::hold_threads(core_.config.base, core_.config.bytes);
}

bool engine::on_fault(std::uint64_t address, bool write, std::uint64_t entered_ns) noexcept {
  t_found_lost = {};
  if (drive::threads::is_driving()) {
    core_.faults.check_frames(address);
    return false;
  }
  const auto why = core_.faults.fault(address, write, entered_ns);
  if (why.code() == QUIRE_LOST) t_found_lost = {"which was lost with a node that died"};
  if (why.code() == core::store_status::unreadable)
    t_found_lost = {"whose content cannot be had from the store that keeps it"};
  if (why.code() == core::fault_path::closed_page) t_found_lost = {"a closed page (PROT_NONE)", false, true};
  if (why.code() == QUIRE_BEYOND) t_found_lost = {"beyond the end of the content", true};
  return why.ok() || why.code() == QUIRE_CONFLICT;  // then the thread goes back to where its transaction began
}

}  // namespace quire::engine
