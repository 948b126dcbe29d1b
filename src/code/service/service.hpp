// SPDX-License-Identifier: BSD-3-Clause
// Code in the shared memory (quire/code.h). The node that loads a module makes its regions, fills them, and has every
// node attach it: by a service, whose handler starts a thread there, as the driver may wait neither for the dynamic
// linker nor for pages. So all nodes can run the module, whether they have asked for it or not: a pointer to a function
// of it may come to them by memory alone. services/code_call.hpp has the steps of load() and unload().
#pragma once

#include <quire/code.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "services/node/names.hpp"
#include "services/node/threads.hpp"
#include "code/attach.hpp"
#include "code/image.hpp"
#include "core/core.hpp"
#include "region/registry.hpp"
#include "services/code_call.hpp"

namespace quire::api {

class code_service {
 public:
  /// `ordered`: begins a thread for carry_out().
  code_service(core::core& e, region::registry& regions, thread_service& threads, name_service& names,
               thread_service::procedure ordered);
  ~code_service();
  code_service(const code_service&) = delete;
  code_service& operator=(const code_service&) = delete;

  // Application threads: bodies of the API.
  [[nodiscard]] base::status load(const char* path, const char* name, const quire_region_options& options,
                                  quire_code& code);
  [[nodiscard]] base::status find(const char* name, std::int64_t timeout_ms, quire_code& code);
  [[nodiscard]] base::status symbol(quire_code code, const char* name, std::uint64_t& address);
  [[nodiscard]] base::status entry(quire_code code, const char* name, std::uint64_t& place);
  [[nodiscard]] base::status replace(quire_code code, const char* name, quire_code newer);
  [[nodiscard]] base::status unload(quire_code code);

  /// Whether an address is one of code that this node can run. Any thread but the driver.
  [[nodiscard]] bool runs(std::uint64_t address);
  /// Of a module's call of atexit(3) or a destructor of a static object, kept until the module goes. False: no module
  /// has this handle of its linker (__dso_handle).
  [[nodiscard]] bool keep_exit(void (*function)(void*), void* argument, const void* linker_handle);
  /// What an order of another node has asked for, by a thread that the order has started; answers it.
  void carry_out(const model::message& order) noexcept;

  /// Around the end of the job, whose memory goes: exceptions find no code there any more. go_on() if the end was
  /// refused. rest() again when all nodes are at the end: another one may have loaded meanwhile.
  void rest();
  void go_on();

 private:
  using order = services::code_order;
  using step = services::code_call::step;
  struct exit_call {
    void (*function)(void*);
    void* argument;
  };
  struct module {
    std::vector<std::byte> copy{};  ///< of the record
    [[nodiscard]] const code::module_record& record() const noexcept {
      return *reinterpret_cast<const code::module_record*>(copy.data());
    }
    std::vector<exit_call> exits{};  ///< of this node, in the order of the calls
    bool unwinds = true;             ///< exceptions pass through it on this node
  };
  using module_ptr = std::shared_ptr<module>;
  /// A module that is being loaded: what there is of it.
  struct loading {
    std::string file{}, name{};  ///< for people: the file without its folder
    std::vector<std::byte> content{};
    code::elf_file elf{};
    code::image image{};
    region::keeper::made_for_code regions{};
    const code::module_record* record = nullptr;
  };

  template <class Does>
  [[nodiscard]] static base::status go(services::code_call call, Does&& does);
  [[nodiscard]] base::status do_step(const step& s, loading& what);
  [[nodiscard]] base::status do_step(const step& s, const module_ptr& m);
  [[nodiscard]] base::status prepare(const char* path, const char* name, const quire_region_options& options,
                                     loading& what);
  [[nodiscard]] base::status read(const char* path, loading& what);
  [[nodiscard]] base::status find_imports(loading& what);
  [[nodiscard]] base::status make(const quire_region_options& options, loading& what);
  [[nodiscard]] base::status fill(quire_region region, std::span<const std::byte> content);
  [[nodiscard]] base::status publish(const loading& what);
  [[nodiscard]] base::status explain_lack(const loading& what, unsigned node, base::status why, code::lacking lacks);
  [[nodiscard]] base::status ask(unsigned node, order what, std::uint64_t base, code::lacking& lacks);
  [[nodiscard]] base::status look_at_end(const module& m);
  [[nodiscard]] base::status claim_end(const module& m);
  void end(const module& m);
  void leads_to(const module& from, std::uint64_t address, std::int64_t more);
  [[nodiscard]] base::status find_export(const char* call, quire_code code, const char* name,
                                         const code::export_row*& found, module_ptr& in);
  [[nodiscard]] module_ptr of_handle(std::uint64_t handle);
  [[nodiscard]] module_ptr of_address(std::uint64_t address);
  [[nodiscard]] std::vector<module_ptr> all();
  [[nodiscard]] bool copy_shared(std::uint64_t from, std::span<std::byte> into) noexcept;
  [[nodiscard]] bool bring(std::uint64_t from, std::uint64_t bytes) noexcept;
  [[nodiscard]] code::lacking attach_here(std::uint64_t base);
  void run_exits_here(std::uint64_t base);
  void detach_here(std::uint64_t base);
  [[nodiscard]] code::lacking do_here(order what, std::uint64_t base);
  void on_order(const model::message& m);

  core::core& core_;
  region::registry& regions_;
  thread_service& threads_;
  name_service& names_;
  const thread_service::procedure ordered_;
  std::mutex mutex_;      ///< for the next one and its exits; nobody touches shared memory under it
  std::mutex unwinding_;  ///< for module::unwinds, and what that says; before mutex_, and never around calls of the
                          ///< dynamic linker
  std::map<std::uint64_t, module_ptr> modules_{};  ///< attached on this node, by the first address
};

/// Of a word in shared memory that stands for a thread at work: 0 before, `work_done` after it.
inline constexpr std::uint64_t work_done = 1;
/// Of a thread of this node; node_at_work() of another one's.
[[nodiscard]] std::uint64_t at_work() noexcept;
[[nodiscard]] int node_at_work(std::uint64_t word) noexcept;
/// Gives what was there. Regions that have no atomic operations of Quire's own have those of the processor.
std::uint64_t change_word(std::uint64_t* word, std::uint64_t from, std::uint64_t to) noexcept;

/// The node's, where there is one: for calls of modules, which name none. Set at the start.
extern code_service* (*code_of_process)() noexcept;
/// What modules call in place of the C++ library's: the function of this name, or null.
[[nodiscard]] void* code_support(std::string_view name) noexcept;

}  // namespace quire::api
