// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/kept_store.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace quire::whole {
namespace {
thread_local std::function<void(const std::string&)> t_wrong;
}  // namespace

constinit const ::quire::store::row kept_store::the_row{
    .id = 0, .name = "kept", .make = [](const ::quire::store::settings&) -> std::unique_ptr<::quire::store::store> {
      return std::make_unique<kept_store>();
    }};

void kept_store::complain_to(std::function<void(const std::string&)> wrong) { t_wrong = std::move(wrong); }

kept_store::kept_store() : wrong_(t_wrong) {}

int kept_store::fill(std::uint64_t at, std::span<std::byte> into) noexcept {
  for (std::size_t done = 0; done < into.size(); done += os::page_bytes) {
    const auto page = pages_.find(at + done);
    if (page != pages_.end()) {
      std::copy(page->second.begin(), page->second.end(), into.data() + done);
    } else {
      wrong_("a store is asked for what it does not have");
    }
  }
  return 0;
}

int kept_store::flush(std::uint64_t at, std::span<const std::byte> from) noexcept {
  for (std::size_t done = 0; done < from.size(); done += os::page_bytes) {
    std::copy_n(from.data() + done, os::page_bytes, pages_[at + done].begin());
  }
  return 0;
}

int kept_store::try_fill(std::uint64_t at, std::span<std::byte> into) noexcept {
  return ++tries_ % 3 == 0 ? fill(at, into) : EAGAIN;
}

void kept_store::spoil(std::uint64_t at, std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes; done += os::page_bytes) pages_.erase(at + done);
}

}  // namespace quire::whole
