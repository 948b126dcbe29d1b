// SPDX-License-Identifier: BSD-3-Clause
// Arrays for programs that divide their data into blocks.
#pragma once

#include <bit>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <quire/quire.hpp>

#include "common/partition.hpp"
#include "common/settings.hpp"

namespace apps {

/// A region for arrays of a program with these settings; unit_bytes 0 stands for 4096.
[[nodiscard]] inline quire::region_options array_region(const run_settings& wanted, std::size_t unit_bytes) {
  quire::region_options about{.unit_bytes = unit_bytes};
  if (wanted.consistency == "release" || wanted.consistency == "scan") about.consistency = quire::consistency::release;
  if (wanted.consistency == "scan") about.detector = quire::detector::scan;
  if (wanted.consistency == "transactional") about.consistency = quire::consistency::transactional;
  return about;
}

/// `n` zeros in a region of their own, so on pages of their own. Its units are spread over the nodes in blocks, as rows
/// are over the workers. One node calls it; unit_kib 0 stands for 4.
template <class T = double>
[[nodiscard]] std::span<T> make_shared_array(const run_settings& wanted, std::size_t n, std::size_t unit_kib = 0) {
  const auto options = array_region(wanted, unit_kib * 1024);
  return quire::region::create(n * sizeof(T), options).span<T>().first(n);
}

/// The same byte in another view of its minipage.
template <class T>
[[nodiscard]] T* seen_in(quire_view_kind view, T* address) {
  void* same = nullptr;
  if (const quire_status status = quire_view(address, view, &same); status != QUIRE_OK)
    throw std::runtime_error(quire_status_text(status));
  return static_cast<T*>(same);
}

/// A region in minipages.
[[nodiscard]] inline quire::region_options minipage_region(const run_settings& wanted, const sharing& how,
                                                           std::size_t minipage_bytes) {
  auto options = array_region(wanted, 0);
  options.minipage_bytes = minipage_bytes;
  if (how.adaptive) options.grouping = quire::grouping::adaptive;
  return options;
}

/// `n` zeros in a region of their own, in minipages of so many bytes that fill pages: in the natural view they lie one
/// after the other. One node calls it.
template <class T>
[[nodiscard]] std::span<T> make_array_in_minipages(const run_settings& wanted, const sharing& how, std::size_t n,
                                                   std::size_t minipage_bytes) {
  const auto options = minipage_region(wanted, how, minipage_bytes);
  return quire::region::create(n * sizeof(T), options).span<T>().first(n);
}
/// Throws where minipages of so many bytes cannot be such an array, or not with these settings; 0: none are wanted. All
/// nodes call it first.
inline void require_filled_pages(const run_settings& wanted, std::size_t minipage_bytes) {
  if (minipage_bytes == 0) return;
  if (minipage_bytes > most_minipage_bytes || !std::has_single_bit(minipage_bytes))
    throw std::runtime_error("minipages of " + std::to_string(minipage_bytes) + " bytes do not fill pages");
  if (wanted.consistency == "blocks" || wanted.consistency == "transactional")
    throw std::runtime_error("--consistency " + wanted.consistency + " goes with --sharing pages");
}
/// Where pieces of such an array are in the fine view.
template <class T>
[[nodiscard]] std::vector<T*> pieces_apart(std::span<T> array, std::size_t piece) {
  std::vector<T*> pieces;
  for (std::size_t i = 0; i < array.size(); i += piece) pieces.push_back(seen_in(QUIRE_FINE, &array[i]));
  return pieces;
}

/// Room for `n` elements of so many bytes, `how.chunk` of them in each minipage: what quire::minipage_array has, for
/// sizes that only a run knows. at(i, place) learns where each is, in the fine view. One node calls it.
template <class At>
void make_in_minipages(const run_settings& wanted, const sharing& how, std::size_t n, std::size_t bytes, const At& at) {
  const std::size_t chunk = how.chunk;
  const auto options = minipage_region(wanted, how, (chunk * bytes + 15) / 16 * 16);
  const std::size_t chunks = (n + chunk - 1) / chunk, a_page = page_bytes / options.minipage_bytes;
  std::byte* const base = quire::region::create((chunks + a_page - 1) / a_page * page_bytes, options).bytes().data();
  for (std::size_t c = 0; c < chunks; ++c) {
    std::byte* const place = seen_in(QUIRE_FINE, base + c / a_page * page_bytes + c % a_page * options.minipage_bytes);
    for (std::size_t i = 0; i < chunk && c * chunk + i < n; ++i) at(c * chunk + i, place + i * bytes);
  }
}

}  // namespace apps
