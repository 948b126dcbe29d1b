// SPDX-License-Identifier: BSD-3-Clause
// What goes with a protocol. A call for something else is refused before a machine hears of it.
#pragma once

namespace quire::protocol {

struct abilities {
  bool relaxed = false;  ///< weaker than sequential consistency: its domain orders messages that synchronise threads
  bool advice = false;   ///< quire_advise() means something to it
  bool atomics = false;  ///< atomic operations where the content is
  bool pins = false;     ///< page locking
  bool pins_bring_content = false;  ///< else the units of a range are asked for in advance
  bool push = false;                ///< and production phases
  bool page_out = false;            ///< frames leave where memory is limited; else they stay
  bool scan = false;                ///< detector 'scan', which finds writes late
  bool twins = false;               ///< the core keeps room for a copy of each unit
  bool change = false;              ///< a region may come from, and go to, another protocol that can
  bool directory = false;     ///< units come by the directory of the sequential protocol: from one such protocol to
                              ///< another it goes over as it is
  bool block = false;         ///< parallel blocks, by a change to release consistency
  bool checkpoint = false;    ///< each unit has one node that keeps() it, when all is quiet
  bool survive = false;       ///< regions outlast the death of a node
  bool replicas = false;      ///< content on two nodes
  bool tells = false;         ///< its domain tells other nodes something before messages that synchronise threads
  bool stores = false;        ///< units that a store keeps
  bool host_frames = false;   ///< nodes of one host can have their frames together
  bool transactions = false;  ///< threads see units by private views, and write by transactions only
};

struct ability {
  const char* name;
  bool abilities::*flag;
};
/// Those that programs know by name: `quire info` prints them, and docs/limits.md says the same
/// (tests/unit/protocol_table_test.cpp).
inline constexpr ability named_abilities[] = {
    {"writes by scan", &abilities::scan},
    {"memory limit", &abilities::page_out},
    {"survivors", &abilities::survive},
    {"replicas", &abilities::replicas},
    {"change of consistency", &abilities::change},
    {"parallel block", &abilities::block},
    {"checkpoint", &abilities::checkpoint},
    {"pinned units", &abilities::pins},
    {"push, production", &abilities::push},
    {"atomic operations", &abilities::atomics},
};

}  // namespace quire::protocol
