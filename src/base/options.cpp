// SPDX-License-Identifier: BSD-3-Clause
#include "base/options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <vector>

#include "base/check.hpp"

namespace quire::base {
namespace {

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB, TiB = 1024 * GiB;
constexpr std::string_view prefix = "QUIRE_";
using use = option_use;

// ---- Bounds of values
constexpr option_bounds any_text{};
constexpr option_bounds range(std::int64_t least, std::int64_t most, std::int64_t multiple = 1) {
  return {least, most, multiple, false, {}};
}
constexpr option_bounds powers_of_two(std::int64_t least, std::int64_t most) { return {least, most, 1, true, {}}; }
constexpr option_bounds or_auto(option_bounds b) {
  return {b.least, b.most, b.multiple, b.power_of_two, automatic_value};
}
constexpr option_bounds or_zero(option_bounds b) { return {b.least, b.most, b.multiple, b.power_of_two, 0}; }

// In the order of `enum class option`.
constexpr option_row table[] = {
    {option::transport, "QUIRE_TRANSPORT", use::programs, option_type::choice, "auto", "auto|shm|tcp",
     "how nodes talk; auto: shared memory on a machine, the best network between machines", range(0, 2)},
    {option::net_devices, "QUIRE_NET_DEVICES", use::programs, option_type::text, "auto", "names, separated by commas",
     "tcp: network interfaces to use; auto: loopback for a job on one host, else all that are up", any_text},
    {option::encrypt, "QUIRE_ENCRYPT", use::programs, option_type::flag, "0", "0|1",
     "tcp: encrypt and authenticate all that goes between nodes, by libsodium; shared memory of a host stays as it is",
     range(0, 1)},
    {option::ucx, "QUIRE_UCX", use::experiments, option_type::choice, "auto", "auto|system",
     "which UCX is loaded; auto: that of the Python package if Quire came with it, else the system's; system: always "
     "the system's, for InfiniBand",
     range(0, 1)},
    {option::detect, "QUIRE_DETECT", use::experiments, option_type::choice, "auto", "auto|userfault|thread|segv",
     "how an access to an absent page is noticed; `quire info` tells what auto is here", range(0, 3)},
    {option::pool, "QUIRE_POOL", use::experiments, option_type::choice, "memfd", "memfd|file|posix|sysv|mdup|fork",
     "what the shared pages are made of", range(0, 5)},
    {option::pool_dir, "QUIRE_POOL_DIR", use::experiments, option_type::path, "", "a directory",
     "pool 'file': where; else $TMPDIR or /var/tmp. The file has no name", any_text},
    {option::pool_fill, "QUIRE_POOL_FILL", use::experiments, option_type::choice, "truncate", "truncate|write",
     "pool 'file': give it its length only, or write it full of zeros", range(0, 1)},
    {option::pool_link, "QUIRE_POOL_LINK", use::experiments, option_type::choice, "ring", "ring|socket",
     "pool 'fork': how the program's process asks the engine's", range(0, 1)},
    {option::host_frames, "QUIRE_HOST_FRAMES", use::experiments, option_type::choice, "auto", "0|1|auto",
     "nodes of one host have one copy of a shared page in memory (pool 'memfd'); 0: they are kept apart, as if on "
     "several hosts; auto: where they talk by shared memory, and memory has no limit",
     range(0, 2)},
    {option::crash_dir, "QUIRE_CRASH_DIR", use::experiments, option_type::path, "", "a directory",
     "pool 'fork': where the engine writes the pages of a program that has crashed, as a core file", any_text},
    {option::fault_trace, "QUIRE_FAULT_TRACE", use::experiments, option_type::path, "", "a directory",
     "where each node writes time stamps of its faults at the end", any_text},
    {option::range, "QUIRE_RANGE", use::experiments, option_type::bytes, "1T", "4M to 64T, a multiple of 2M",
     "shared address range to reserve; costs nothing until touched", range(4 * MiB, 64 * TiB, 2 * MiB)},
    {option::base, "QUIRE_BASE", use::experiments, option_type::address, "0x200000000000",
     "0x10000000 to 0x7e0000000000, a multiple of 2M", "first shared address, the same on all nodes",
     range(0x10000000, 0x7e0000000000, 2 * MiB)},
    {option::spin_us, "QUIRE_SPIN_US", use::experiments, option_type::number, "auto", "auto, or 0 to 1000000",
     "microseconds to spin before sleeping; auto: 1000, or 0 with more than two nodes a core",
     or_auto(range(0, 1'000'000))},
    {option::peer_timeout, "QUIRE_PEER_TIMEOUT", use::programs, option_type::number, "5", "0 to 86400",
     "seconds within which a node that does not answer is noticed, and the job ended; 0: never (for debuggers)",
     range(0, 86'400)},
    {option::on_failure, "QUIRE_ON_FAILURE", use::programs, option_type::choice, "end", "end|notify",
     "when a node is lost: end the job, or let the others go on, and tell them (quire_on_failure)", range(0, 1)},
    {option::read_ahead, "QUIRE_READ_AHEAD", use::experiments, option_type::flag, "1", "0|1",
     "fetch the next units when a thread reads through memory in order", range(0, 1)},
    {option::learn_writes, "QUIRE_LEARN_WRITES", use::experiments, option_type::flag, "1", "0|1",
     "fetch a unit for writing at a read fault where writes have followed such faults", range(0, 1)},
    {option::pin_limit, "QUIRE_PIN_LIMIT", use::experiments, option_type::number, "4096", "1 to 1048576",
     "how many units a node may have pinned at a time (quire_pin)", range(1, 1 << 20)},
    {option::replicas, "QUIRE_REPLICAS", use::programs, option_type::number, "0", "0 or 1",
     "on how many nodes beside its owner's the content of a unit is kept (sequential consistency)", range(0, 1)},
    {option::memory_limit, "QUIRE_MEMORY_LIMIT", use::programs, option_type::bytes, "0", "0, or 1M to 64T",
     "memory that the shared pages may take on each node; what is more goes to other nodes, then to a file; 0: no "
     "limit",
     or_zero(range(MiB, 64 * TiB))},
    {option::cache_limit, "QUIRE_CACHE_LIMIT", use::experiments, option_type::bytes, "0", "0, or 1M to 64T",
     "memory that content of containers with a linker may take on each node; 0: half of what the host has free, "
     "divided by its nodes, or QUIRE_MEMORY_LIMIT",
     or_zero(range(MiB, 64 * TiB))},
    {option::page_out_dir, "QUIRE_PAGE_OUT_DIR", use::programs, option_type::path, "", "a directory",
     "where pages go that memory has no room for; else $TMPDIR or /var/tmp. The file has no name", any_text},
    {option::write_back, "QUIRE_WRITE_BACK", use::experiments, option_type::number, "30", "0 to 86400",
     "seconds after which what threads have written goes back to the stores that keep regions (containers), unless "
     "somebody asks before; 0: never",
     range(0, 86'400)},
    {option::io_timeout, "QUIRE_IO_TIMEOUT", use::experiments, option_type::number, "60", "0 to 86400",
     "seconds after which a call of a container's linker that has not returned is given up, and named; 0: it is waited "
     "for",
     range(0, 86'400)},
    {option::checkpoint_keep, "QUIRE_CHECKPOINT_KEEP", use::experiments, option_type::number, "2", "1 to 1000",
     "how many checkpoints of a directory stay: the newest, and those before it, in case it is damaged later",
     range(1, 1000)},
    {option::consistency, "QUIRE_CONSISTENCY", use::programs, option_type::choice, "sequential",
     "sequential|release|transactional", "what nodes see of each other's writes to the memory of quire_malloc()",
     range(0, 2)},
    {option::commit, "QUIRE_COMMIT", use::experiments, option_type::choice, "owners", "owners|token",
     "transactions: a commit takes what it has written from nodes that have copies, or all nodes are told of it by who "
     "has a token; the same on all nodes",
     range(0, 1)},
    {option::restart_every, "QUIRE_RESTART_EVERY", use::experiments, option_type::number, "0", "0 to 1000000",
     "transactions: not 0: every n-th access that Quire notices begins its body again, to find bodies that cannot",
     range(0, 1'000'000)},
    {option::orders, "QUIRE_ORDERS", use::experiments, option_type::number, "0", "0 to 2",
     "the memory of quire_malloc() synchronises threads, as a region with quire_region_options.orders; 2: unless all "
     "nodes have one memory",
     range(0, 2)},
    {option::move_homes, "QUIRE_MOVE_HOMES", use::experiments, option_type::flag, "1", "0|1",
     "release: at a barrier, what one node alone has written since the last gets its home there", range(0, 1)},
    {option::updates, "QUIRE_UPDATES", use::experiments, option_type::flag, "1", "0|1",
     "release: what a home writes is sent to nodes that have read it again and again, before they ask", range(0, 1)},
    {option::migratory, "QUIRE_MIGRATORY", use::experiments, option_type::flag, "1", "0|1",
     "release: what nodes write in turn goes with its home to the node that asks for it, which writes it without a "
     "twin",
     range(0, 1)},
    {option::plans, "QUIRE_PLANS", use::experiments, option_type::flag, "1", "0|1",
     "at the beginning of a phase (a parallel region of OpenMP, a barrier in it, quire_plan()) a node asks for what it "
     "used in that phase the last times",
     range(0, 1)},
    {option::lock_plans, "QUIRE_LOCK_PLANS", use::experiments, option_type::flag, "1", "0|1",
     "with a lock that comes from another node a node asks for what it used under that lock the last times",
     range(0, 1)},
    {option::read_lines, "QUIRE_READ_LINES", use::experiments, option_type::flag, "1", "0|1",
     "read-ahead also where many sweeps take turns, as those by rows or columns of a three-dimensional array do",
     range(0, 1)},
    {option::write_ahead, "QUIRE_WRITE_AHEAD", use::experiments, option_type::flag, "1", "0|1",
     "release, replicas: a sweep of writes gets the right to write the units behind, whose homes are on its node, or "
     "which it owns",
     range(0, 1)},
    {option::twin_limit, "QUIRE_TWIN_LIMIT", use::experiments, option_type::bytes, "256M", "64K to 1T",
     "release: memory that a node's twins may take; beyond, changes leave before the release. The last four units "
     "written keep theirs",
     range(64 * KiB, TiB)},
    {option::unit, "QUIRE_UNIT", use::programs, option_type::bytes, "4K", "4K to 2M, a power of two",
     "how much moves at once in the memory of quire_malloc()", powers_of_two(4 * KiB, 2 * MiB)},
    {option::heap_views, "QUIRE_HEAP_VIEWS", use::programs, option_type::number, "0", "0 to 256",
     "not 0: an allocation of at most 2048 bytes moves by itself, not with its page, of which as many small ones have "
     "room; 16 is a good number",
     range(0, 256)},
    {option::heap_grouping, "QUIRE_HEAP_GROUPING", use::experiments, option_type::choice, "none", "none|page|adaptive",
     "QUIRE_HEAP_VIEWS: an allocation comes by itself, with all others of its page, or with those that a node uses "
     "together, as experience says",
     range(0, 2)},
    {option::free_batch, "QUIRE_FREE_BATCH", use::experiments, option_type::number, "62", "1 to 62",
     "so many quire_free() of one other node's memory travel together; 1: each by itself, and tells at once what is "
     "wrong with it",
     range(1, 62)},
    {option::sharing, "QUIRE_SHARING", use::experiments, option_type::flag, "0", "0|1",
     "count which lines of units each node uses, for the report on false sharing of `quire run --stats=sharing`",
     range(0, 1)},
    {option::report, "QUIRE_REPORT", use::programs, option_type::path, "", "a directory",
     "where each node leaves its record at the end, of which `quire report` makes a page; `quire run --report` does "
     "both",
     any_text},
    {option::events, "QUIRE_EVENTS", use::experiments, option_type::path, "", "a directory",
     "where each node writes what happened, in order, from which `quire predict` computes what other machines and "
     "networks would take",
     any_text},
    {option::delay, "QUIRE_DELAY", use::experiments, option_type::text, "", "US:MB:NODES",
     "messages between hosts take so many microseconds, and what their bytes take at so many MB/s (0: nothing); so "
     "many "
     "nodes, one after the other, are on a host. `quire predict` runs programs so",
     any_text},
    {option::mount, "QUIRE_MOUNT", use::experiments, option_type::path, "", "a directory",
     "an empty directory of each host where containers are files for other programs, by FUSE; the first node of the "
     "host serves it",
     any_text},
    {option::mount_cache, "QUIRE_MOUNT_CACHE", use::experiments, option_type::flag, "0", "0|1",
     "QUIRE_MOUNT: the kernel caches files that programs open for reading; what others write they see when they open "
     "the file, and otherwise a second later",
     range(0, 1)},
    {option::check, "QUIRE_CHECK", use::programs, option_type::choice, "none",
     "none|pointers|minipages|races|all_races",
     "pointers: at each barrier of the job, report words in shared memory that look like pointers to private memory; "
     "slow. minipages: in heaps with views "
     "each small object lies at the end of a page of its own, so that an access past it ends the program. races: what "
     "is written under release consistency is recorded in the directory of QUIRE_REPORT, for `quire run --check`; "
     "all_races: also what a node writes in pages that it has had for itself",
     range(0, 4)},
    {option::log, "QUIRE_LOG", use::programs, option_type::choice, "warning", "error|warning|info|debug",
     "how much Quire says on standard error", range(0, 3)},
    {option::nodes, "QUIRE_NODES", use::programs, option_type::number, "auto", "auto, or 1 to 1024",
     "`quire run` without -n: how many nodes; auto: one for each core", or_auto(range(1, most_nodes))},
    {option::tag, "QUIRE_TAG", use::experiments, option_type::flag, "0", "0|1",
     "`quire run`: begin each line of output with its node", range(0, 1)},
    {option::rendezvous, "QUIRE_RENDEZVOUS", use::starts, option_type::text, "",
     "HOST:PORT; :PORT: on the host in MASTER_ADDR",
     "where rank 0 of a job waits for the others, when no `quire run` starts them", any_text},
    {option::rank, "QUIRE_RANK", use::starts, option_type::number, "auto", "auto, or 0 to 1023",
     "QUIRE_RENDEZVOUS: the number of this node; auto: RANK (torchrun), else JOB_COMPLETION_INDEX (Kubernetes)",
     or_auto(range(0, most_nodes - 1))},
    {option::size, "QUIRE_SIZE", use::starts, option_type::number, "auto", "auto, or 1 to 1024",
     "QUIRE_RENDEZVOUS: how many nodes the job has; auto: WORLD_SIZE (torchrun)", or_auto(range(1, most_nodes))},
    {option::secret, "QUIRE_SECRET", use::starts, option_type::text, "", "16 characters or more, at random",
     "QUIRE_RENDEZVOUS: what all nodes of the job know, and nobody else", any_text},
    {option::secret_file, "QUIRE_SECRET_FILE", use::starts, option_type::path, "", "a file",
     "QUIRE_RENDEZVOUS: holds what QUIRE_SECRET else says", any_text},
    {option::rendezvous_timeout, "QUIRE_RENDEZVOUS_TIMEOUT", use::starts, option_type::number, "300", "1 to 86400",
     "QUIRE_RENDEZVOUS: seconds within which all ranks have to come", range(1, 86'400)},
};
static_assert(std::size(table) == option_count);

/// Words of "a|b|c".
std::vector<std::string_view> words_of(std::string_view legal) {
  std::vector<std::string_view> words;
  for (std::size_t from = 0; from <= legal.size();) {
    const std::size_t to = std::min(legal.find('|', from), legal.size());
    words.push_back(legal.substr(from, to - from));
    from = to + 1;
  }
  return words;
}

/// Reads all of `text` as an integer of the given radix.
bool read_integer(std::string_view text, int radix, std::int64_t& value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, radix);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool read_bytes(std::string_view text, std::int64_t& value) noexcept {
  constexpr std::string_view suffixes = "KMGT";
  int shift = 0;
  if (!text.empty()) {
    const auto at = suffixes.find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.back()))));
    if (at != suffixes.npos) {
      shift = 10 * (static_cast<int>(at) + 1);
      text.remove_suffix(1);
    }
  }
  if (!read_integer(text, 10, value) || value < 0 || value > (INT64_MAX >> shift)) return false;
  value <<= shift;
  return true;
}

bool read_value(const option_row& row, std::string_view text, std::int64_t& value) {
  switch (row.type) {
    case option_type::choice: {
      const auto words = words_of(row.legal);
      const auto at = std::find(words.begin(), words.end(), text);
      value = at - words.begin();
      return at != words.end();
    }
    case option_type::bytes:
      return read_bytes(text, value);
    case option_type::address:
      if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
      return read_integer(text, 16, value);
    case option_type::number:
      if (row.bounds.besides == automatic_value && text == "auto") {
        value = automatic_value;
        return true;
      }
      [[fallthrough]];
    case option_type::flag:
      return read_integer(text, 10, value);
    case option_type::path:
    case option_type::text:
      value = 0;
      return true;  // what is there is seen when it is used
  }
  return false;
}

bool holds_text(const option_row& row) noexcept {
  return row.type == option_type::path || row.type == option_type::text;
}

/// Number of letters to insert, delete, change or swap with the next to make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// A value as one would write it, in the largest unit that leaves nothing over.
std::string spelled(const option_row& row, std::int64_t value) {
  if (value == automatic_value) return "auto";
  if (row.type == option_type::address) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
    return "0x" + std::string(digits, end);
  }
  std::size_t suffix = 0;
  if (row.type == option_type::bytes)
    for (; value != 0 && value % KiB == 0 && suffix < 4; ++suffix) value /= KiB;
  return std::to_string(value) + std::string("KMGT").substr(0, suffix).substr(suffix == 0 ? 0 : suffix - 1);
}

/// The legal value that is nearest to a number out of bounds or between two of them.
std::int64_t nearest_number(const option_row& row, std::int64_t value) {
  const option_bounds& b = row.bounds;
  if (b.besides && value < *b.besides) return *b.besides;
  value = std::clamp(value, b.least, b.most);
  if (!b.power_of_two) return b.least + (value - b.least + b.multiple / 2) / b.multiple * b.multiple;
  std::int64_t power = b.least;
  while (power < b.most && power * 2 - value < value - power) power *= 2;
  return power;
}

/// What was probably meant by a value that the row does not allow; empty if nothing resembles it.
std::string nearest_value(const option_row& row, std::string_view text) {
  const std::string lower = lower_case(text);
  if (row.type == option_type::choice) return std::string(nearest_word(lower, words_of(row.legal)));
  if (row.type == option_type::flag) {
    for (const auto* const yes : {"yes", "on", "true", "y"})
      if (lower == yes) return "1";
    for (const auto* const no : {"no", "off", "false", "n"})
      if (lower == no) return "0";
  }
  constexpr std::string_view automatic[] = {"auto"};
  if (row.bounds.besides == automatic_value && !nearest_word(lower, automatic).empty()) return "auto";
  // 64KiB, 64KB, "64 K", 5s, 5 seconds
  std::string plain;
  std::copy_if(lower.begin(), lower.end(), std::back_inserter(plain), [](char c) { return c != ' '; });
  const std::size_t digits = std::min(plain.find_first_not_of("0123456789"), plain.size());
  const std::string_view after = std::string_view(plain).substr(digits);
  if (row.type == option_type::bytes && (after.ends_with("ib") || after.ends_with("b")))
    plain.resize(plain.size() - (after.ends_with("ib") ? 2 : 1));
  if (row.type == option_type::number && after.starts_with("s")) plain.resize(digits);
  std::int64_t value = 0;
  if (!read_value(row, plain, value)) return {};
  if (!is_legal(row, value)) value = nearest_number(row, value);
  return is_legal(row, value) ? spelled(row, value) : std::string();
}

/// The environment's spelling of a name: QUIRE_READ_AHEAD for read-ahead.
std::string spelled_as_variable(std::string_view name) {
  std::string variable;
  for (const char c : name) variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable.starts_with(prefix) ? variable : std::string(prefix) + variable;
}

}  // namespace

option_values::option_values() noexcept {
  for (const auto& row : table) {
    CHECK(read_value(row, row.standard, value_[index(row.id)]));
    if (holds_text(row)) text_[index(row.id)] = row.standard;
  }
}

std::span<const option_row> option_table() noexcept { return table; }

bool is_legal(const option_row& row, std::int64_t value) noexcept {
  const option_bounds& b = row.bounds;
  if (b.besides && value == *b.besides) return true;
  return value >= b.least && value <= b.most && value % b.multiple == 0 &&
         (!b.power_of_two || (value & (value - 1)) == 0);
}

const option_row& row_of(option which) noexcept { return table[static_cast<std::size_t>(which)]; }

const option_row* find_option(std::string_view name) {
  const std::string variable = spelled_as_variable(name);
  for (const auto& row : table)
    if (variable == row.variable) return &row;
  return nullptr;
}

std::string_view nearest_word(std::string_view mistyped, std::span<const std::string_view> words) {
  std::string_view nearest;
  // Some of what was typed must be left, or any short word would resemble any other.
  std::size_t least = std::min(std::max<std::size_t>(2, mistyped.size() / 3) + 1, mistyped.size());
  for (const auto word : words) {
    const bool cut_off = mistyped.size() >= 3 && word.starts_with(mistyped);
    if (const std::size_t distance = cut_off ? 1 : edit_distance(mistyped, word); distance < least) {
      least = distance;
      nearest = word;
    }
  }
  return nearest;
}

std::string unknown_option_text(std::string_view name) {
  const std::string variable = spelled_as_variable(name).substr(prefix.size());
  std::vector<std::string_view> known;
  for (const auto& row : table) known.push_back(std::string_view(row.variable).substr(prefix.size()));
  const std::string_view nearest = nearest_word(variable, known);
  std::string text = std::string(name) + " is not an option of Quire";
  if (!nearest.empty()) text.append("; did you mean ").append(prefix).append(nearest).append("?");
  return text + " (`quire info --options` lists all)";
}

result<std::int64_t> parse_option(const option_row& row, std::string_view text, std::string& why) {
  std::int64_t value = 0;
  if (read_value(row, text, value) && is_legal(row, value)) return value;
  why = std::string(row.variable) + "=" + std::string(text) + " is not allowed";
  if (const std::string nearest = nearest_value(row, text); !nearest.empty()) why += "; did you mean " + nearest + "?";
  why += std::string(why.ends_with('?') ? " It may be " : "; it may be ") + row.legal;
  return QUIRE_BAD_OPTION;
}

result<option_values> read_options(const char* const* environment, std::string& why) {
  option_values values;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (!entry.starts_with(prefix)) continue;
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string_view name = entry.substr(0, equals);
    const std::string_view text = entry.substr(std::min(equals + 1, entry.size()));
    if (std::find(internal_variables.begin(), internal_variables.end(), name) != internal_variables.end()) continue;
    if (name.starts_with("QUIRE_EXEC_")) continue;  // left by `quire exec` for libquire_omp
    const option_row* row = find_option(name);
    if (row == nullptr || name != row->variable) {
      why = unknown_option_text(name);
      return QUIRE_BAD_OPTION;
    }
    if (text.empty()) continue;
    const auto value = parse_option(*row, text, why);
    if (!value.ok()) return value.why();
    holds_text(*row) ? values.set(row->id, text) : values.set(row->id, value.value());
  }
  return values;
}

}  // namespace quire::base
