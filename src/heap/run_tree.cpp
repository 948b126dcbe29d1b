// SPDX-License-Identifier: BSD-3-Clause
// See run_tree.hpp.
#include "heap/run_tree.hpp"

#include <algorithm>
#include <new>

#include "base/check.hpp"

namespace quire::heap {

namespace {

/// Pages of a free run that are left when it is to start on a multiple of 2^alignment_power pages.
std::uint64_t pages_when_aligned(const run& of, unsigned alignment_power) noexcept {
  if (of.use != run_use::free) return 0;
  const std::uint64_t mask = (std::uint64_t{1} << alignment_power) - 1;
  const std::uint64_t skipped = (0 - of.first_page) & mask;
  return skipped < of.page_count ? of.page_count - skipped : 0;
}

bool has_room(const run& of, unsigned size_class) noexcept {
  return of.use == run_use::span && !of.objects->is_full() && of.objects->size_class() == size_class;
}

offer own_offer(const run& of) noexcept {
  offer own;
  if (of.use == run_use::free) {
    for (unsigned power = 0; power < alignment_count; ++power) {
      own.aligned_pages[power] = static_cast<std::uint32_t>(pages_when_aligned(of, power));
    }
  } else if (of.use == run_use::span && !of.objects->is_full()) {
    own.span_classes = std::uint64_t{1} << of.objects->size_class();
  }
  return own;
}

void add(offer& sum, const run* child) noexcept {
  if (child == nullptr) return;
  for (unsigned power = 0; power < alignment_count; ++power) {
    sum.aligned_pages[power] = std::max(sum.aligned_pages[power], child->subtree.aligned_pages[power]);
  }
  sum.span_classes |= child->subtree.span_classes;
}

offer subtree_offer(const run& of) noexcept {
  offer sum = own_offer(of);
  add(sum, of.left);
  add(sum, of.right);
  return sum;
}

/// Audit of one subtree; counts its nodes.
bool subtree_is_valid(const run* top, std::size_t& count) noexcept {
  if (top == nullptr) return true;
  ++count;
  for (const run* child : {top->left, top->right}) {
    if (child != nullptr && (child->parent != top || child->priority > top->priority)) return false;
  }
  return subtree_is_valid(top->left, count) && subtree_is_valid(top->right, count) &&
         top->subtree == subtree_offer(*top) && (top->use == run_use::span) == (top->objects != nullptr) &&
         (top->use == run_use::minipages) == (top->minipages != nullptr);
}

}  // namespace

run_tree::~run_tree() {
  while (first_ != nullptr) {
    run* const next = first_->next;
    delete first_;
    first_ = next;
  }
}

run* run_tree::append(std::uint64_t first_page, std::uint64_t page_count) noexcept {
  return insert_after(last_, first_page, page_count);
}

run* run_tree::split(run* lower, std::uint64_t at) noexcept {
  const std::uint64_t end = lower->end_page();
  CHECK(at > lower->first_page && at < end);
  lower->page_count = at - lower->first_page;
  run* const upper = insert_after(lower, at, end - at);
  if (upper == nullptr) lower->page_count = end - lower->first_page;
  return upper;
}

void run_tree::absorb_next(run* lower) noexcept {
  run* const upper = lower->next;
  CHECK(upper != nullptr && upper->first_page == lower->end_page());
  const std::uint64_t more = upper->page_count;
  erase(upper);  // first: erase() needs a tree whose offers are up to date
  lower->page_count += more;
  update(lower);
}

void run_tree::update(run* changed) noexcept {
  for (; changed != nullptr; changed = changed->parent) {
    const offer now = subtree_offer(*changed);
    if (now == changed->subtree) return;  // nothing above can have changed
    changed->subtree = now;
  }
}

run* run_tree::find(std::uint64_t page) const noexcept {
  run* at = root_;
  while (at != nullptr && !at->contains(page)) at = page < at->first_page ? at->left : at->right;
  return at;
}

run* run_tree::lowest_free(std::uint64_t page_count, unsigned alignment_power) const noexcept {
  const auto offers = [&](const run* top) {
    return top != nullptr && top->subtree.aligned_pages[alignment_power] >= page_count;
  };
  if (!offers(root_)) return nullptr;
  run* at = root_;
  while (true) {
    if (offers(at->left)) {
      at = at->left;
    } else if (pages_when_aligned(*at, alignment_power) >= page_count) {
      return at;
    } else {
      at = at->right;
    }
  }
}

run* run_tree::lowest_span(unsigned size_class) const noexcept {
  const auto offers = [&](const run* top) {
    return top != nullptr && (top->subtree.span_classes >> size_class & 1) != 0;
  };
  if (!offers(root_)) return nullptr;
  run* at = root_;
  while (true) {
    if (offers(at->left)) {
      at = at->left;
    } else if (has_room(*at, size_class)) {
      return at;
    } else {
      at = at->right;
    }
  }
}

run* run_tree::insert_after(run* before, std::uint64_t first_page, std::uint64_t page_count) noexcept {
  run* const added = new (std::nothrow) run;
  if (added == nullptr) return nullptr;
  added->first_page = first_page;
  added->page_count = page_count;
  added->priority = draw_priority();
  added->previous = before;
  added->next = before == nullptr ? first_ : before->next;
  // A leaf next to `before`: its own right child, or the left child of its successor, which is below it then.
  if (before != nullptr && before->right == nullptr) {
    before->right = added;
    added->parent = before;
  } else if (added->next != nullptr) {
    added->next->left = added;
    added->parent = added->next;
  } else {
    root_ = added;
  }
  (added->previous == nullptr ? first_ : added->previous->next) = added;
  (added->next == nullptr ? last_ : added->next->previous) = added;
  ++size_;
  // `before` is above the leaf, and may have changed just now.
  for (run* at = added; at != before; at = at->parent) at->subtree = subtree_offer(*at);
  update(before);
  while (added->parent != nullptr && added->priority > added->parent->priority) rotate_up(added);
  return added;
}

void run_tree::erase(run* old) noexcept {
  while (old->left != nullptr && old->right != nullptr) {
    rotate_up(old->left->priority > old->right->priority ? old->left : old->right);
  }
  run* const child = old->left != nullptr ? old->left : old->right;
  replace_child(old->parent, old, child);
  (old->previous == nullptr ? first_ : old->previous->next) = old->next;
  (old->next == nullptr ? last_ : old->next->previous) = old->previous;
  --size_;
  update(old->parent);
  delete old;
}

void run_tree::rotate_up(run* child) noexcept {
  run* const top = child->parent;
  const bool from_left = top->left == child;
  run* const middle = from_left ? child->right : child->left;
  replace_child(top->parent, top, child);
  (from_left ? top->left : top->right) = middle;
  if (middle != nullptr) middle->parent = top;
  (from_left ? child->right : child->left) = top;
  top->parent = child;
  top->subtree = subtree_offer(*top);
  child->subtree = subtree_offer(*child);
}

void run_tree::replace_child(run* parent, run* child, run* by) noexcept {
  if (parent == nullptr) {
    root_ = by;
  } else {
    (parent->left == child ? parent->left : parent->right) = by;
  }
  if (by != nullptr) by->parent = parent;
}

std::uint32_t run_tree::draw_priority() noexcept {  // xorshift (Marsaglia, 2003)
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  return random_;
}

bool run_tree::is_valid() const noexcept {
  std::size_t in_tree = 0, in_list = 0;
  if (!subtree_is_valid(root_, in_tree) || (root_ != nullptr && root_->parent != nullptr)) return false;
  const run* previous = nullptr;
  for (const run* at = first_; at != nullptr; previous = at, at = at->next, ++in_list) {
    if (at->previous != previous || at->page_count == 0 || find(at->first_page) != at) return false;
    if (previous != nullptr && previous->end_page() != at->first_page) return false;
  }
  return last_ == previous && in_tree == size_ && in_list == size_;
}

}  // namespace quire::heap
