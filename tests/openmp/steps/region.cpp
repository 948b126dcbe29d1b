// SPDX-License-Identifier: BSD-3-Clause
#include "region.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>

namespace quire::program {
void* take_private(std::size_t bytes) noexcept { return std::malloc(bytes); }
void give_private(void* at) noexcept { std::free(at); }
}  // namespace quire::program

namespace quire::program::steps {
namespace {

constexpr std::uint64_t parcels_each = 64;

void dispose(task& t) noexcept { static_cast<test_task&>(t).gone = true; }

template <class T>
std::uint64_t hash_of(const T& what) {
  static_assert(std::has_unique_object_representations_v<T>);
  std::uint64_t words[sizeof(T) / 8], all = 0;
  std::memcpy(words, &what, sizeof words);
  for (const std::uint64_t w : words) all = join(all, w);
  return all;
}

std::uint64_t number_of_task(const task* t) { return t == nullptr ? 0 : static_cast<const test_task*>(t)->number + 1; }

}  // namespace

test_node::test_node(steps::region& in, const region_shape& shape, int number)
    : in_(in), shape_(shape), number_(number), tasks_(dispose) {
  for (int i = 0; i < shape.nodes; ++i) {
    asked_.emplace_back(0, "asked");
    auto& box = boxes_.emplace_back();
    for (std::size_t s = 0; s < shape.slots && i != number; ++s) box.emplace_back(0, "a slot");
    to_guards_.emplace_back(true, "a sender's end");
  }
  from_.resize(static_cast<std::size_t>(shape.nodes));
  to_.resize(static_cast<std::size_t>(shape.nodes));
  exchange_.open(number, shape.nodes);
}

test_node::~test_node() {
  for (auto* k = const_cast<exchange<test_node>::kept_letter*>(exchange_.kept()); k != nullptr;)
    destroy_private(std::exchange(k, k->next));
}

bool test_node::put(int other, const letter& l) {
  const auto at = static_cast<std::size_t>(other);
  const std::lock_guard held(to_guards_[at]);
  auto& box = in_.nodes_[at].boxes_[static_cast<std::size_t>(number_)];
  return to_[at].try_put([&](std::uint64_t number) -> word& { return box[number % box.size()]; }, word_of(l));
}
bool test_node::try_send(int other, const letter& l) {
  if (shape_.wrong != mistake::senders_do_not_receive) return put(other, l);
  for (watch waits;; waits.wait()) {
    waits.look();
    if (put(other, l)) return true;
  }
}

bool test_node::receive(letter& l, int& from) {
  for (int i = 0; i < nodes(); ++i) {
    const int sender = (first_ + i) % nodes();
    if (sender == number_) continue;
    auto& box = boxes_[static_cast<std::size_t>(sender)];
    const std::uint64_t what = from_[static_cast<std::size_t>(sender)].take(
        [&](std::uint64_t number) -> word& { return box[number % box.size()]; });
    if (what == 0) continue;
    first_ = from = sender;
    l = letter_of(what);
    return true;
  }
  return false;
}

void test_node::release(std::uint64_t round) {
  const bool last = round == static_cast<std::uint64_t>(shape_.barriers);
  if (last) in_region_ = false;
  (last ? end_ : within_).released.store(last ? 1 : round);
}

test_parcel* test_node::pack(team& in, task& t) {
  world::now().require(in.parcels_.size() < parcels_each, "the test has no more parcels");
  auto& p = in.parcels_.emplace_back(test_parcel{&static_cast<test_task&>(t), number_, 0, false});
  p.number = static_cast<std::uint64_t>(number_) * parcels_each + in.parcels_.size();
  return &p;
}
test_parcel* test_node::parcel_of(std::uint64_t number) {
  test_parcel& p = in_.nodes_[(number - 1) / parcels_each].parcels_[(number - 1) % parcels_each];
  world::now().require(!p.gone, "a letter is about a task that has left");
  return &p;
}
void test_node::unpack(parcel* p) {
  auto& its = groups_.emplace_back();
  its.number = groups_.size();
  its.origin = p;
  test_task& t = new_task(p->at_home->barrier, p->at_home->children_to_make);
  t.parcel = p;
  with_tasks(*this, [&](pool& tasks) { tasks.add_from_elsewhere(t, stand_in_, its); });
}

test_task& test_node::new_task(int barrier, int children) {
  test_task& t = records_.emplace_back();
  t.number = records_.size();
  t.barrier = barrier;
  t.children_to_make = children;
  return t;
}
void test_node::make_task(test_task& parent, int barrier, int children) {
  test_task& t = new_task(barrier, children);
  ++in_.rounds_[static_cast<std::size_t>(barrier)].open;
  ++in_.made_;
  with_tasks(*this, [&](pool& tasks) {
    tasks.add(t, parent, {});
    tasks.queue(t);
  });
}

bool test_node::run_any() {
  if (!has_tasks()) return false;
  auto* const t = static_cast<test_task*>(with_tasks(*this, [](pool& tasks) { return tasks.take_any(); }));
  if (t == nullptr) return false;
  tasks_seen_.saw(t->number);
  world::now().require(!t->began, "a task begins twice");
  t->began = true;
  for (int i = 0; i < t->children_to_make; ++i) make_task(*t, t->barrier, 0);
  --in_.rounds_[static_cast<std::size_t>(t->barrier)].open;
  ++in_.done_;
  exchange_.end_body(*this, *t);
  return true;
}

/// What a barrier has around it (team/meet.cpp).
struct test_node::barrier {
  static constexpr unsigned soon = 0;
  test_node& on;
  int round;

  [[nodiscard]] bool is_last() const noexcept { return round == on.shape_.barriers; }
  [[nodiscard]] std::uint64_t threads_here() const noexcept {
    return on.shape_.wrong == mistake::nobody_is_counted ? 0 : static_cast<std::uint64_t>(on.shape_.threads_each);
  }
  [[nodiscard]] bool is_idle() const {
    if (!on.has_tasks()) return true;
    const std::lock_guard held(on.tasks_guard_);
    const bool idle = on.tasks_.idle() || on.shape_.wrong == mistake::open_tasks_are_ignored;
    on.tasks_seen_.saw(idle ? 1 : 0);
    return idle;
  }
  void tell() const noexcept { ++on.in_.rounds_[static_cast<std::size_t>(round)].came; }
  [[nodiscard]] steps::watch watch() const {
    world::now().settle(static_cast<std::uint64_t>(round) * 2 + 1);
    return {};
  }
  void look_around() const {
    if (on.nodes() > 1) on.exchange_.look();
  }
  [[nodiscard]] bool leaves_early() const {
    return on.shape_.canceller >= 0 && !is_last() && on.in_.cancelled_.load() != 0;
  }
  [[nodiscard]] bool run_any() const { return on.run_any(); }
  void ask_for_tasks() const {
    if (on.has_tasks()) on.exchange_.ask();
  }
  void on_closed(std::uint64_t closed) const {
    if (on.nodes() > 1 && on.shape_.wrong != mistake::nodes_do_not_meet)
      return on.exchange_.ready(static_cast<std::uint64_t>(round));
    (is_last() ? on.end_ : on.within_).released.store(closed);
  }
};

void test_node::meet(int round) {
  barrier here{*this, round};
  steps::meet(here.is_last() ? end_ : within_, here, here.is_last() ? 1 : static_cast<std::uint64_t>(round));
}

std::uint64_t test_node::fingerprint() const {
  std::uint64_t all = join(static_cast<std::uint64_t>(first_), in_region_ ? 1 : 0);
  all = join(all, hash_of(exchange_.tree()));
  for (auto* k = exchange_.kept(); k != nullptr; k = k->next)
    all = join(all, join(word_of(k->what), static_cast<std::uint64_t>(k->from)));
  for (const bool h : hungry_) all = all * 2 + (h ? 1 : 0);
  for (const ring_receiver& r : from_) all = join(all, r.next());
  for (const ring_sender& r : to_) all = join(all, r.next());
  for (const test_task& t : records_) {
    all = join(all, join(t.references, t.children));
    std::uint64_t flags = 0;
    for (const bool f : {t.in_queue.in, t.began, t.gone, t.finished, t.body_done}) flags = flags * 2 + (f ? 1 : 0);
    all = join(all, join(number_of_task(t.in_queue.before), flags));
    all = join(all, join(static_cast<std::uint64_t>(t.barrier), static_cast<std::uint64_t>(t.children_to_make)));
    all = join(all, join(t.gone ? 0 : number_of_task(t.parent), t.parcel == nullptr ? 0 : t.parcel->number));
  }
  for (const test_group& g : groups_) all = join(all, join(g.tasks, g.gone ? 1 : 0));
  for (const test_parcel& p : parcels_) all = join(all, join(p.at_home->number, p.gone ? 1 : 0));
  return join(all, stand_in_.children);
}

region::region(const region_shape& shape) : shape_(shape), rounds_(static_cast<std::size_t>(shape.barriers) + 1) {
  for (int i = 0; i < shape.nodes; ++i) nodes_.emplace_back(*this, shape_, i);
  implicit_.resize(static_cast<std::size_t>(threads()));
}

int region::role(int number) const {
  const bool special = number == shape_.canceller ||
                       std::find(shape_.makers.begin(), shape_.makers.end(), number) != shape_.makers.end();
  return special ? threads() + number : number / shape_.threads_each;
}

void region::run(int number) {
  test_node& on = nodes_[static_cast<std::size_t>(number / shape_.threads_each)];
  if (std::find(shape_.makers.begin(), shape_.makers.end(), number) != shape_.makers.end()) {
    for (int i = 0; i < shape_.tasks; ++i)
      on.make_task(implicit_[static_cast<std::size_t>(number)], 1, shape_.children);
  }
  bool within = true;
  for (int i = 1; i <= shape_.barriers; ++i) {
    const bool last = i == shape_.barriers;
    if (!last && number == shape_.canceller) cancelled_.store(1);
    if (!last && shape_.canceller >= 0) within = within && cancelled_.load() == 0;
    if (!last && !within) continue;
    on.meet(i);
    pass(i);
    world::now().settle(static_cast<std::uint64_t>(i) * 2);
  }
}

void region::pass(int barrier) {
  if (barrier != shape_.barriers && cancelled_.peek() != 0) return;
  const round& r = rounds_[static_cast<std::size_t>(barrier)];
  world::now().require(r.came == threads(), "a thread passes a barrier to which not all have come");
  for (int i = 0; i <= barrier; ++i)
    world::now().require(rounds_[static_cast<std::size_t>(i)].open == 0,
                         "a thread passes a barrier while a task is open");
}

std::uint64_t region::fingerprint() const {
  std::uint64_t all = join(static_cast<std::uint64_t>(made_), static_cast<std::uint64_t>(done_));
  for (const test_node& n : nodes_) all = join(all, n.fingerprint());
  for (const round& r : rounds_)
    all = join(all, join(static_cast<std::uint64_t>(r.came), static_cast<std::uint64_t>(r.open)));
  return all;
}

std::string region::verdict() const {
  if (done_ != made_) return "a task was not run";
  for (const test_node& n : nodes_) {
    if (!n.tasks_.idle()) return "a task is still open";
    for (const test_parcel& p : n.parcels_) {
      if (!p.gone) return "a node was never told that a task has left";
    }
  }
  return {};
}

}  // namespace quire::program::steps
