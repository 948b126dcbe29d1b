// SPDX-License-Identifier: BSD-3-Clause
// A random transactional program on whole nodes: threads read and write words in transactions, whose attempts are recorded and checked
// (recorder.hpp). How transactions begin, commit and are undone is the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sim/whole/actor.hpp"
#include "sim/whole/recorder.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole {

/// Thrown out of loads and stores: the calling thread's transaction cannot commit, and its body begins anew. It is caught at once by who runs the body. A
/// handler must not give way (fibre::yield), because what the language knows of exceptions is one for all fibres: it only takes a note.
struct restart {
  bool forced = false;  ///< by the program, as users' tests force it
};

/// What transactions do beside loads and stores. From a fibre; each call may take a while.
class transaction_calls {
 public:
  virtual ~transaction_calls() = default;
  /// Before all others.
  virtual void prepare(actor&) {}
  /// Returns when the body may begin.
  virtual void begin(actor& a) = 0;
  virtual void store(actor& a, std::uint64_t address, std::uint64_t value) { a.here.store(address, value); }
  /// False: it could not be, and all is undone. Who knows when the writes become visible tells recorder::publish(`which`), or has recorder::look_at()
  /// called after each turn of a node.
  [[nodiscard]] virtual bool commit(actor& a, recorder::id which) = 0;
  /// All is undone, because the body has asked for it, or because a restart was thrown.
  virtual void abort(actor& a) = 0;
};

struct transaction_options {
  std::uint64_t seed = 1;
  unsigned nodes = 2;
  unsigned most_threads = 2;       ///< of a node
  unsigned most_pages = 4;
  unsigned words = 3;              ///< of a page that are used
  unsigned most_transactions = 12; ///< of a thread
  unsigned most_operations = 8;    ///< of a transaction
  unsigned abort_percent = 5;      ///< bodies that ask for it
  unsigned restart_permille = 10;  ///< accesses at which a restart is forced
  unsigned most_attempts = 0;      ///< of a transaction that nobody forces to restart; 0: any number
  std::uint8_t consistency = QUIRE_SEQUENTIAL;
};

class transaction_job {
 public:
  using maker = std::function<std::unique_ptr<transaction_calls>(world&, recorder&)>;
  transaction_job(const transaction_options& options, const maker& make);
  /// What is wrong, or an empty text.
  [[nodiscard]] std::string run();
  [[nodiscard]] world& nodes() noexcept { return world_; }
  [[nodiscard]] recorder& history() noexcept { return record_; }
  /// That have committed, or were aborted by their bodies.
  [[nodiscard]] std::uint64_t transactions() const noexcept { return done_; }

 private:
  enum class outcome : std::uint8_t { committed, aborted, again, forced };
  [[nodiscard]] world_options draw_options();
  [[nodiscard]] std::uint64_t word(std::uint64_t number) const;
  void live(actor& a);
  using body = void (transaction_job::*)(actor& a, recorder::id which);
  void transact(actor& a, body what, bool may_abort);
  [[nodiscard]] outcome attempt(actor& a, body what, bool may_abort);
  void use_words(actor& a, recorder::id which);
  void read_all(actor& a, recorder::id which);
  void read(actor& a, recorder::id which, std::uint64_t address);

  transaction_options options_;
  sim::random draw_;
  unsigned pages_ = 1, write_percent_ = 50;
  world world_;
  recorder record_{world_};
  std::unique_ptr<transaction_calls> calls_;
  std::uint64_t barrier_ = 0, done_ = 0;
};

}  // namespace quire::whole
