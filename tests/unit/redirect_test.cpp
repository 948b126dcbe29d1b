// SPDX-License-Identifier: BSD-3-Clause
// src/os/redirect: calls of one library go elsewhere, those of all others do not; also where the linker has
// made the table of addresses read-only, as distributions do.
#include "os/redirect.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>

namespace quire::os::redirect_test {
namespace {

pid_t another_parent() { return 4711; }

class victim {
 public:
  explicit victim(const char* path) : handle_(::dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ != nullptr) parent_ = reinterpret_cast<pid_t (*)()>(::dlsym(handle_, "victim_parent"));
  }
  ~victim() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  victim(const victim&) = delete;
  victim& operator=(const victim&) = delete;
  [[nodiscard]] pid_t parent() const { return parent_ != nullptr ? parent_() : -1; }

 private:
  void* handle_;
  pid_t (*parent_)() = nullptr;
};

class redirecting : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(links, redirecting, testing::Values("lazy", "now"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(redirecting, changes_one_library) {
  const std::string name = std::string("libredirect_victim_") + GetParam();
  const victim changed((QUIRE_BINARY_DIR "/tests/" + name + ".so").c_str());
  const victim other(QUIRE_BINARY_DIR "/tests/libredirect_victim_other.so");
  ASSERT_EQ(changed.parent(), ::getppid());
  const redirection calls[] = {{"getppid", reinterpret_cast<void*>(&another_parent)}, {"no_such_call", nullptr}};
  EXPECT_EQ(redirect(name.c_str(), calls), 1u);
  EXPECT_EQ(changed.parent(), another_parent());
  EXPECT_EQ(other.parent(), ::getppid());
  EXPECT_NE(::getppid(), another_parent());
}

TEST(redirect, finds_nothing_in_a_library_that_is_not_there) {
  const redirection calls[] = {{"getppid", reinterpret_cast<void*>(&another_parent)}};
  EXPECT_EQ(redirect("libnobody_has_loaded", calls), 0u);
}

/// All libraries but one, and only where the linker has found, or would find, what is to be replaced.
TEST_P(redirecting, changes_all_others) {
  const std::string name = std::string("libredirect_victim_") + GetParam();
  const victim one((QUIRE_BINARY_DIR "/tests/" + name + ".so").c_str());
  const victim other(QUIRE_BINARY_DIR "/tests/libredirect_victim_other.so");
  void* const own = reinterpret_cast<void*>(&another_parent);
  void* const real = ::dlsym(RTLD_DEFAULT, "getppid");
  ASSERT_NE(real, nullptr);
  const pid_t parent = ::getppid();
  const replacement elsewhere[] = {{"getppid", own, own, false}};
  const auto everywhere = [own](std::span<const replacement> calls) {
    const auto none = std::make_unique<looked_at>();
    redirect_everywhere(calls, own, *none);
  };
  everywhere(elsewhere);
  EXPECT_EQ(other.parent(), parent);  // that binds it; the first may still wait for its first call
  const replacement calls[] = {{"getpid", own, nullptr, false}, {"getppid", own, real, true}};
  everywhere(calls);  // not here
  EXPECT_EQ(one.parent(), another_parent());
  EXPECT_EQ(other.parent(), another_parent());
  EXPECT_EQ(::getppid(), parent);
  const replacement back[] = {{"getppid", real, own, false}};
  everywhere(back);
  EXPECT_EQ(one.parent(), parent);
}

/// What is loaded, unloaded and loaded again where it was, or is written meanwhile, is found although others are known.
TEST_P(redirecting, knows_what_it_has_looked_at_until_one_is_unloaded) {
  const std::string file = QUIRE_BINARY_DIR "/tests/" + std::string("libredirect_victim_") + GetParam() + ".so";
  void* const own = reinterpret_cast<void*>(&another_parent);
  void* const real = ::dlsym(RTLD_DEFAULT, "getppid");
  const auto known = std::make_unique<looked_at>();
  const replacement calls[] = {{"getppid", own, real, true}};
  const victim other(QUIRE_BINARY_DIR "/tests/libredirect_victim_other.so");
  for (int turn = 0; turn < 3; ++turn) {
    redirect_everywhere(calls, own, *known);
    const victim one(file.c_str());
    EXPECT_EQ(one.parent(), ::getppid());  // and is bound now
    redirect_everywhere(calls, own, *known);
    EXPECT_EQ(one.parent(), another_parent());
    const auto back = std::make_unique<looked_at>();
    const replacement undo[] = {{"getppid", real, own, false}};
    redirect_everywhere(undo, own, *back);
    EXPECT_EQ(one.parent(), ::getppid());
    redirect_everywhere(calls, own, *known);  // by what is known
    EXPECT_EQ(one.parent(), another_parent());
    EXPECT_EQ(other.parent(), another_parent());
  }
}

/// Nothing that was read-only stays writable.
TEST_P(redirecting, leaves_the_table_as_it_was) {
  const std::string name = std::string("libredirect_victim_") + GetParam();
  const victim changed((QUIRE_BINARY_DIR "/tests/" + name + ".so").c_str());
  const auto writable = [&] {
    int found = 0;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      found += line.find(name) != line.npos && line.find(" rw") != line.npos ? 1 : 0;
    return found;
  };
  const int before = writable();
  const redirection calls[] = {{"getppid", reinterpret_cast<void*>(&another_parent)}};
  EXPECT_EQ(redirect(name.c_str(), calls), 1u);
  EXPECT_EQ(writable(), before);
}

}  // namespace
}  // namespace quire::os::redirect_test
