// SPDX-License-Identifier: BSD-3-Clause
#include "program/sites/argument.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace quire::program::sites {
namespace {

constexpr reg_set arguments = only(rdi) | only(rsi) | only(rdx) | only(rcx) | only(r8) | only(r9);
/// A call leaves nothing in these.
constexpr reg_set of_calls = arguments | only(rax) | only(r10) | only(r11);
/// A place of the frame is told by its distance from where the stack pointer was at the start.
using place = std::int64_t;
/// What is below an aligned stack pointer is told by another origin.
constexpr place next_origin = place{1} << 32;

/// Before an instruction: what may have the pointer.
struct state {
  reg_set registers = only(rdi), sure = only(rdi);  ///< on some way, on all ways
  std::vector<place> places{};                      ///< of 8 bytes, in order
  bool places_met = false;                          ///< ways on which other places have it
  std::optional<place> sp = place{0}, frame{};      ///< rsp, and rbp if that is one of its values
  register_values values{};                         ///< of words that are added to
  bool locked = false;                              ///< it has the lock of atomics

  [[nodiscard]] bool has(std::uint8_t r) const noexcept { return (registers & only(r)) != 0; }
  [[nodiscard]] bool is_sure(std::uint8_t r) const noexcept { return (sure & only(r)) != 0; }
  void set(std::uint8_t r, bool perhaps, bool surely) noexcept {
    keep(static_cast<reg_set>(~only(r)));
    if (perhaps) registers |= only(r);
    if (perhaps && surely) sure |= only(r);
  }
  /// Others have something else now.
  void keep(reg_set these) noexcept {
    registers &= these;
    sure &= these;
  }
  [[nodiscard]] bool has(place p) const noexcept { return std::binary_search(places.begin(), places.end(), p); }
  void set(place p, bool to) {
    const auto at = std::lower_bound(places.begin(), places.end(), p);
    const bool had = at != places.end() && *at == p;
    if (to && !had) places.insert(at, p);
    if (!to && had) places.erase(at);
  }
  /// Some of these bytes.
  [[nodiscard]] bool touches(place from, std::uint32_t bytes) const noexcept {
    return std::any_of(places.begin(), places.end(), [&](place p) { return p < from + bytes && from < p + 8; });
  }
  /// True if it has become more.
  bool join(const state& other) {
    const state before = *this;
    registers |= other.registers;
    sure &= other.sure;
    places_met = places_met || other.places_met || places != other.places;
    for (const place p : other.places) set(p, true);
    if (sp != other.sp) sp.reset();
    if (frame != other.frame) frame.reset();
    const bool more = values.join(other.values);
    return more || registers != before.registers || sure != before.sure || places_met != before.places_met ||
           places != before.places || sp != before.sp || frame != before.frame;
  }
};

class walk {
 public:
  walk(const decoder& by, std::span<const std::byte> code, std::uint64_t address, std::uint32_t most,
       const known_calls& known)
      : by_(by), code_(code), address_(address), most_(most), known_(known) {}

  /// Once to find what is written, and, if something is, once more to see whether that is only added to.
  [[nodiscard]] std::optional<block_use> run() {
    if (!go()) return {};
    if (!sums_.any()) return block_use{read_, {}};
    looks_at_words_ = true;
    block_use found;
    if (!go() || !sums_.finish(found.sums)) return {};
    found.read = read_;
    found.locks_block_only = locks_ && !locks_more_ && !takes_addresses_;
    return found;
  }

 private:
  [[nodiscard]] bool go() {
    constexpr unsigned most_steps = 200'000;
    before_.clear();
    reach(address_, state{});
    for (unsigned steps = 0; !todo_.empty(); ++steps) {
      if (steps == most_steps) return false;
      const std::uint64_t at = todo_.back();
      todo_.pop_back();
      if (!step(at)) return false;
    }
    return !keeps_ || !takes_addresses_;
  }
  void reach(std::uint64_t at, const state& s) {
    const auto [found, fresh] = before_.try_emplace(at, s);
    if (found->second.locked != s.locked) locks_more_ = true;
    if (fresh || found->second.join(s)) todo_.push_back(at);
  }
  [[nodiscard]] bool is_inside(std::uint64_t at) const noexcept { return at - address_ < code_.size(); }

  /// Where in the frame; nothing if it is elsewhere, or cannot be known.
  [[nodiscard]] static std::optional<place> place_of(const memory_use& m, const state& s) noexcept {
    if (m.index != no_reg || m.of_thread) return {};
    const std::optional<place> origin = m.base == rsp ? s.sp : m.base == rbp ? s.frame : std::optional<place>{};
    return origin ? std::optional<place>(*origin + m.displacement) : origin;
  }
  /// Perhaps: where ways with and without a frame have met, rbp may be anything.
  [[nodiscard]] static bool is_in_frame(const memory_use& m, const state& s) noexcept {
    return m.base == rsp || (m.base == rbp && (s.frame.has_value() || !s.places.empty()));
  }

  /// What an instruction reads and writes, but for what copies the pointer. False: it may do anything with the block.
  [[nodiscard]] bool use(const effects& e, const memory_use& m, const state& s) {
    if (m.index != no_reg && s.has(m.index)) return false;
    if (m.base < rip && s.has(m.base)) {
      const bool known = m.index == no_reg && !m.of_thread && (m.reads || m.writes) && m.bytes != 0;
      if (!known || m.displacement < 0 || m.displacement + m.bytes > most_) return false;
      if (m.writes && !looks_at_words_) sums_.add_written({m.displacement, m.bytes});
      read_ = std::max(read_, static_cast<std::uint32_t>(m.displacement) + m.bytes);
      return true;
    }
    if (!is_in_frame(m, s) || s.places.empty() || e.what == effects::kind::load || e.what == effects::kind::store)
      return true;
    const auto at = place_of(m, s);
    return at.has_value() ? !s.touches(*at, m.bytes) : m.index != no_reg;
  }

  [[nodiscard]] bool store(const effects& e, state& s) {
    const memory_use& m = e.memory[0];
    const auto at = place_of(m, s);
    if (!s.has(e.from)) {
      if (at.has_value() && s.has(*at)) s.set(*at, false);
      return true;
    }
    keeps_ = true;
    if (!at.has_value()) return false;
    s.set(*at, true);
    return true;
  }
  [[nodiscard]] static bool load(const effects& e, state& s) {
    const memory_use& m = e.memory[0];
    const auto at = place_of(m, s);
    bool has = false;
    if (at.has_value()) {
      has = s.has(*at);
      if (!has && s.touches(*at, 8)) return false;
    } else if (is_in_frame(m, s) && m.index == no_reg) {
      has = !s.places.empty();
    }
    s.set(e.to, has, at.has_value() && !s.places_met);
    return true;
  }
  [[nodiscard]] bool push(const effects& e, state& s) {
    const bool has = e.from != no_reg && s.has(e.from);
    keeps_ = keeps_ || has;
    if (!s.sp.has_value()) return !has;
    s.set(*s.sp -= 8, has);
    return true;
  }

  /// A call, or a jump to another function.
  void change_lock(known_call::lock how, state& s) noexcept {
    const bool takes = how == known_call::lock::takes;
    if (s.locked == takes && (takes || how == known_call::lock::gives)) locks_more_ = true;
    if (s.locked && how == known_call::lock::none) locks_more_ = true;
    if (how != known_call::lock::none) s.locked = takes;
    locks_ = locks_ || takes;
  }
  /// Of an instruction under the lock.
  [[nodiscard]] static bool is_own(const memory_use& m, const state& s) noexcept {
    if (m.base < rip && s.is_sure(m.base)) return true;
    return m.index == no_reg && !m.of_thread && (m.base == rsp || (m.base == rbp && s.frame.has_value()));
  }

  /// Nobody but the callee sees what lies in the registers of arguments, or at the end of the frame.
  [[nodiscard]] bool call(const effects& e, state& s) {
    const bool word = !e.direct && e.uses == 1 && e.memory[0].base == rip && e.memory[0].index == no_reg;
    const std::uint64_t at = e.direct ? e.target : end_of_ + static_cast<std::uint64_t>(e.memory[0].displacement);
    constexpr std::uint32_t arguments_in_memory = 64;
    const known_call known = e.direct || word ? known_.find(at, word) : known_call{};
    const arguments_taken takes = known.takes;
    change_lock(known.of_atomics, s);
    const bool nothing = takes != arguments_taken::anything;
    if (looks_at_words_ && !word_sums::call(takes, s.values)) return false;
    if (!nothing && (s.registers & (arguments | only(rax) | only(r10))) != 0) return false;
    if (!nothing && !s.places.empty() && (!s.sp.has_value() || s.touches(*s.sp, arguments_in_memory))) return false;
    s.keep(static_cast<reg_set>(~of_calls));
    return true;
  }

  /// To another function, or to a part of this one that stands elsewhere.
  [[nodiscard]] bool leave(std::uint64_t to, state s) {
    if (!s.places.empty()) return false;
    const known_call known = known_.find(to, false);
    change_lock(known.of_atomics, s);
    if (s.locked) locks_more_ = true;
    if (s.registers != 0 && known.takes == arguments_taken::anything) return false;
    return !looks_at_words_ || word_sums::call(known.takes, s.values);
  }

  /// What becomes of rsp and rbp.
  void move_frame(const effects& e, state& s) const {
    using enum effects::kind;
    const reg_set writes = e.replaces;
    const std::optional<place> sp = s.sp, frame = s.frame;
    if ((writes & only(rbp)) != 0) s.frame.reset();
    if (e.what == copy && e.to == rbp && e.from == rsp) s.frame = sp;
    if (e.what == move_sp && sp.has_value()) s.sp = *sp + e.amount;
    if (e.what == align_sp && sp.has_value()) s.sp = *sp - next_origin;
    if (e.what == frame_end) {
      s.sp = frame.has_value() ? std::optional<place>(*frame + 8) : frame;
      s.frame.reset();
    }
    if ((writes & only(rsp)) == 0 || e.what == move_sp || e.what == align_sp || e.what == push || e.what == pop ||
        e.what == call_ || e.what == frame_end)
      return;
    s.sp.reset();
    if (e.what == copy && e.to == rsp && e.from == rbp) s.sp = frame;
    const memory_use& m = e.memory[0];
    if (e.what == address && e.to == rsp && m.index == no_reg) {
      const std::optional<place> origin = m.base == rsp ? sp : m.base == rbp ? frame : std::optional<place>{};
      if (origin.has_value()) s.sp = *origin + m.displacement;
    }
  }

  /// Something but rsp and rbp gets an address in the frame.
  [[nodiscard]] static bool takes_address(const effects& e, const state& s) noexcept {
    using enum effects::kind;
    if (e.what == address) return e.to != rsp && is_in_frame(e.memory[0], s);
    if (e.what == copy && (e.to == rsp || (e.to == rbp && e.from == rsp))) return false;
    const bool implied = e.what == push || e.what == pop || e.what == call_ || e.what == leaves || e.what == move_sp ||
                         e.what == align_sp || e.what == frame_end;
    const reg_set of_frame =
        static_cast<reg_set>((implied ? 0 : only(rsp)) | (s.frame.has_value() && e.what != frame_end ? only(rbp) : 0));
    return (e.reads & of_frame) != 0;
  }

  /// The instruction's own business. False: it may do anything with the block.
  [[nodiscard]] bool perform(const effects& e, state& s) {
    using enum effects::kind;
    const bool hands_on = e.what == copy || e.what == store || e.what == push;
    if (!hands_on && (e.reads & s.registers) != 0) return false;
    if (takes_address(e, s)) takes_addresses_ = true;
    const state before = s;
    for (unsigned i = 0; i < e.uses; ++i) {
      const memory_use& m = e.memory[i];
      if (e.what == address && ((m.base < rip && s.has(m.base)) || (m.index < rip && s.has(m.index)))) return false;
      if (e.what != address && !use(e, m, before)) return false;
      if (before.locked && e.what != address && e.what != effects::kind::call && !is_own(m, before)) locks_more_ = true;
    }
    const bool in_block = e.uses != 0 && e.memory[0].base < rip && before.has(e.memory[0].base);
    if (looks_at_words_ && !sums_.step(e, in_block, s.values)) return false;
    s.keep(static_cast<reg_set>(~e.replaces));
    move_frame(e, s);
    switch (e.what) {
      case copy:
        s.set(e.to, before.has(e.from), before.is_sure(e.from));
        return true;
      case effects::kind::store:
        return this->store(e, s);
      case effects::kind::load:
        return before.has(e.memory[0].base) && e.memory[0].base < rip ? true : this->load(e, s);
      case effects::kind::push:
        return this->push(e, s);
      case pop:
        s.set(e.to, s.sp.has_value() ? s.has(*s.sp) : !s.places.empty(), s.sp.has_value() && !s.places_met);
        if (s.sp.has_value()) *s.sp += 8;
        return true;
      case effects::kind::call:
        return this->call(e, s);
      default:
        return true;
    }
  }

  [[nodiscard]] bool step(std::uint64_t at) {
    using enum effects::kind;
    effects e;
    state s = before_.at(at);
    if (!by_.decode(code_.subspan(at - address_), at, e) || e.what == unknown) return false;
    end_of_ = at + e.length;
    if (!perform(e, s)) return false;
    if (e.what == leaves) {
      if (s.locked) locks_more_ = true;
      return true;
    }
    if (e.what == jump || e.what == branch) {
      // Out of the function it is a call, or a part of it that stands elsewhere.
      const bool back = looks_at_words_ && e.target <= at;
      if (is_inside(e.target)) {
        if (back && s.values.wait()) return false;
        reach(e.target, s);
        if (back) s.values.spend();
      } else if (!leave(e.target, s)) {
        return false;
      }
    }
    if (e.what == jump) return true;
    if (!is_inside(end_of_)) return e.what == effects::kind::call;  // of what does not come back
    reach(end_of_, s);
    return true;
  }

  static constexpr auto call_ = effects::kind::call;

  const decoder& by_;
  const std::span<const std::byte> code_;
  const std::uint64_t address_;
  const std::uint32_t most_;
  const known_calls& known_;
  std::map<std::uint64_t, state> before_{};
  std::vector<std::uint64_t> todo_{};
  std::uint64_t end_of_ = 0;  ///< the instruction's that is looked at
  std::uint32_t read_ = 0;
  word_sums sums_{};
  bool looks_at_words_ = false;
  bool keeps_ = false;            ///< the pointer, in its frame
  bool takes_addresses_ = false;  ///< of what is in its frame
  bool locks_ = false;            ///< it takes the lock of atomics,
  bool locks_more_ = false;       ///< and may use other memory under it than its block and its frame
};

}  // namespace

std::optional<block_use> use_of_block(const decoder& by, std::span<const std::byte> function, std::uint64_t address,
                                      std::uint32_t most, const known_calls& known) {
  return walk(by, function, address, most, known).run();
}

}  // namespace quire::program::sites
