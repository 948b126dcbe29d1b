// SPDX-License-Identifier: BSD-3-Clause
// What the core has to know of a kind of message, without knowing the protocol: what it brings, where it goes, when it
// may leave. Each protocol has a row for each kind that it sends, in its folder; what a row leaves out is as below.
#pragma once

#include <cstdint>

#include "model/ids.hpp"
#include "model/message.hpp"

namespace quire::protocol {

/// How large a payload may be, and where it goes: core/payloads.cpp.
enum class payload : std::uint8_t {
  none,
  value,    ///< some bytes, which are copied
  content,  ///< of consecutive units, straight to its place in the system view: no thread can use the units before
  offer,    ///< the same of units that may be in use; the receiver need not take it
  replica,  ///< the same, which must be whole before it replaces what is there
  entries,  ///< parts of units: core/diffs.hpp
  spread,   ///< core/spread.hpp
  piece,    ///< of an array of a group: sync/exchange.hpp
};

/// Who takes it where it arrives.
enum class route : std::uint8_t {
  machine,   ///< the machine of its region that is in charge, unit by unit
  own,       ///< the machine of its region that is of this protocol, in charge or not yet: a change tells what may come
             ///< before the receiver has changed
  page_out,  ///< core/page_out.hpp, in a region of this protocol
  domain,    ///< domain::on_message()
  nobody,    ///< no protocol of this node has such messages
  part,      ///< a part of the core, which is named by the kind (core/inbox.cpp); no unit of a region is meant
};

/// A message that lets threads of another node go on takes along what it tells them of memory, as those of src/sync do:
/// it leaves when what the actions before it ask for is done, by domain::leaves(), with an edge.
enum class passage : std::uint8_t {
  plain,      ///< it does not
  asked_for,  ///< releases if m.requester is the sender, else it carries
  as_said,    ///< releases if m.b is not 0, else it carries
};

/// For what a message of units waits where their content is in a store only: core/absent_units.hpp.
enum class awaits : std::uint8_t {
  content,  ///< that
  turn,     ///< none, but what has come before it is taken first
  nothing,  ///< survivors tell each other what they have
};

struct message_traits {
  model::message_kind kind{};
  payload brings = payload::none;
  route to = route::machine;
  passage leaves = passage::plain;
  bool one_by_one = false;  ///< several units are as many messages
  bool later = false;  ///< need not be taken by a node all of whose threads compute: who shall see what it tells is
                       ///< told by a message behind it
  bool later_if_said = false;  ///< the same if it has message_flag::unhurried
  bool counted = true;         ///< else who asks waits for the reply, and is known to wait: change_state::calls
  bool acquires = false;       ///< a reply: the thread that waits for it acquires, when the actions before are done
  bool tells = false;   ///< the receiver learns what threads here have done: it waits until that is safe (replicas)
  bool orders = false;  ///< in a region that orders (core::orders()), who gets it may go on by what threads of the
                        ///< sender wrote into the unit
  awaits of_units = awaits::content;
  bool copied = false;       ///< threads may write its content before it has left: it is read at once, by words
  bool domain_sees = false;  ///< domain::on_leaving() and on_arriving() are called
  model::protocol_id of{};   ///< filled in by the table
};

}  // namespace quire::protocol
