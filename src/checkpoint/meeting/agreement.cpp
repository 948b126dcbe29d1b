// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/meeting/agreement.hpp"

#include <cstring>
#include <filesystem>

#include "base/clock.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "checkpoint/crc32c.hpp"

namespace quire::api {

namespace {
constexpr std::uint64_t between_lines_ns = 2'000'000'000;
}

checkpoint_path make_checkpoint_path(const char* given) {
  checkpoint_path path;
  if (given == nullptr || *given == 0) return path;
  std::error_code error;
  std::string whole = std::filesystem::absolute(given, error).lexically_normal().string();
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  if (error || whole.size() >= sizeof path.text) {
    base::log(base::log_level::error, "the path of a checkpoint may have %zu characters: %s", sizeof path.text - 1,
              whole.c_str());
    return path;
  }
  std::memcpy(path.text, whole.data(), whole.size());
  return path;
}

quire_status agree(const char* doing, const checkpoint::outcome& mine, bool quiet) {
  if (!mine.ok() && !quiet) base::log(base::log_level::error, "%s: %s", doing, mine.text.c_str());
  std::int64_t worst = mine.ok() ? 0 : std::int64_t{mine.code} << 32 | quire_node();
  if (const quire_status why = quire_reduce_i64(&worst, 1, QUIRE_MAX); why != QUIRE_OK) return why;
  const auto code = static_cast<quire_status>(worst >> 32);
  if (mine.ok() && code != QUIRE_OK && !quiet) {
    base::log(base::log_level::error, "%s: node %d could not (%s)", doing, static_cast<int>(worst & 0xffffffff),
              quire_status_text(code));
  }
  return code;
}

quire_status agree_and_explain(const char* call, const char* doing, const checkpoint::outcome& mine,
                               const char* advice) {
  const quire_status code = agree(doing, mine);
  if (code == QUIRE_OK || code == QUIRE_PEER_LOST || code == QUIRE_LOST) return code;
  std::int64_t who = mine.code == code ? quire_node() : -1;  // of several the last
  if (quire_reduce_i64(&who, 1, QUIRE_MAX) != QUIRE_OK || who < 0) return code;
  std::string told = mine.text;
  const std::size_t room = base::detail_bytes - 20 - std::strlen(call) - std::strlen(advice);
  if (told.size() > room)
    told.replace(room / 4, told.size() - room + 3,
                 "...");  // of a long path the end, and what was wrong with it, are kept
  told.resize(base::detail_bytes);
  for (std::size_t at = 0; at < told.size(); at += 64) {
    if (quire_broadcast(told.data() + at, 64, static_cast<int>(who)) != QUIRE_OK) return code;
  }
  return base::explain(code, "%s: node %d: %s%s", call, static_cast<int>(who), told.c_str(), advice);
}

quire_status explain_path(const char* call, quire_status status, const char* given,
                          const checkpoint_path& made) noexcept {
  if (status != QUIRE_INVALID || made.text[0] != 0 || given == nullptr || *given == 0) return status;
  return base::explain(status,
                       "%s: the path of the directory, made absolute, may have %zu characters, and this one has more",
                       call, sizeof made.text - 1);
}

quire_status agree_on_path(const checkpoint_path& path) {
  const auto sum = static_cast<std::int64_t>(checkpoint::crc32c(std::as_bytes(std::span(path.text))));
  std::int64_t values[] = {path.text[0] == 0 ? 1 : 0, sum, -sum};
  if (const quire_status why = quire_reduce_i64(values, 3, QUIRE_MAX); why != QUIRE_OK) return why;
  if (values[0] == 0 && values[1] == -values[2]) return QUIRE_OK;
  if (path.text[0] == 0) {
    (void)base::explain(QUIRE_INVALID, "a checkpoint needs the path of a directory");
  } else {
    (void)base::explain(QUIRE_INVALID, "a checkpoint needs the same path on all nodes; here it is %s", path.text);
  }
  base::log(base::log_level::error, "%s", base::detail());
  return QUIRE_INVALID;
}

progress_lines::progress_lines(const char* doing, std::uint64_t all_bytes)
    : doing_(doing), all_bytes_(all_bytes), next_ns_(base::now_ns() + between_lines_ns) {}

void progress_lines::at(std::uint64_t bytes) noexcept {
  const std::uint64_t now = base::now_ns();
  if (now < next_ns_) return;
  next_ns_ = now + between_lines_ns;
  base::log(base::log_level::info, "%s: %lu of %lu MiB of this node", doing_, static_cast<unsigned long>(bytes >> 20),
            static_cast<unsigned long>(all_bytes_ >> 20));
}

}  // namespace quire::api
