// SPDX-License-Identifier: BSD-3-Clause
// `quire config`: what one needs to compile a program with the Quire that this command belongs to.
#include <fmt/core.h>
#include <quire/quire.h>

#include <algorithm>
#include <array>
#include <memory>

#include "bootstrap/launcher/launcher.hpp"
#include "commands.hpp"
#include "own_tree.hpp"

namespace quire::tools {
namespace {

namespace fs = std::filesystem;

struct config_arguments {
  bool version = false, prefix = false, cflags = false, libs = false, cmakedir = false, fortran = false,
       pythonpath = false;
  [[nodiscard]] bool none() const noexcept {
    return !version && !prefix && !cflags && !libs && !cmakedir && !fortran && !pythonpath;
  }
};

/// As one word of a shell.
std::string quoted(const fs::path& path) {
  std::string word;
  for (const char c : path.string()) {
    constexpr std::string_view plain = "/._-+:@%,=~";
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && plain.find(c) == plain.npos &&
        static_cast<signed char>(c) >= 0)
      word += '\\';
    word += c;
  }
  return word;
}

/// Folders that compilers, linkers and the loader know by themselves must not be named: they would come before others.
bool is_standard(const fs::path& folder) {
  constexpr std::array known = {
      "/usr/include", "/lib", "/usr/lib", "/lib64", "/usr/lib64", "/lib/" QUIRE_MULTIARCH, "/usr/lib/" QUIRE_MULTIARCH};
  return std::find(known.begin(), known.end(), folder) != known.end();
}

std::string compile_flags(const own_tree& tree) { return is_standard(tree.include) ? "" : "-I" + quoted(tree.include); }

/// With a path for the loader: the program also runs under launchers of others, and under none.
std::string link_flags(const own_tree& tree) {
  const std::string folder = quoted(tree.library);
  return is_standard(tree.library) ? "-lquire" : fmt::format("-L{0} -Wl,-rpath,{0} -lquire", folder);
}

/// Where find_package() finds it.
fs::path cmake_folder(const own_tree& tree) { return tree.installed ? tree.library / "cmake" / "quire" : tree.prefix; }

/// The source of module `quire`, which each Fortran compiler compiles for itself.
fs::path fortran_source(const own_tree& tree) { return tree.include / "quire" / "quire.f90"; }

void print_table(const own_tree& tree) {
  const auto row = [](const char* name, const std::string& value) { fmt::print("{:<11} {}\n", name, value); };
  row("version", QUIRE_VERSION_STRING);
  row("prefix", tree.prefix.string());
  row("cflags", compile_flags(tree));
  row("libs", link_flags(tree));
  row("fortran", quoted(fortran_source(tree)));
  if (has_package(tree)) row("python", "PYTHONPATH=" + quoted(tree.python));
  if (tree.installed) {
    row("pkg-config", "PKG_CONFIG_PATH=" + quoted(tree.library / "pkgconfig"));
    row("cmake", "-DCMAKE_PREFIX_PATH=" + quoted(tree.prefix));
  } else {
    row("cmake", "-Dquire_DIR=" + quoted(cmake_folder(tree)));
  }
  row("example", "c++ -std=c++20 program.cpp -o program $(quire config --cflags --libs)");
}

int config(const config_arguments& asked) {
  std::string why;
  const auto tree = find_own_tree(why);
  if (tree) why = lacking_for_programs(*tree);
  if (!why.empty()) {
    fmt::print(stderr, "quire config: {}\n", why);
    return bootstrap::launcher::launcher_failed;
  }
  if (asked.pythonpath && !has_package(*tree)) {
    fmt::print(stderr,
               "quire config: {} holds no Python package: it was built without Python 3.11 or later, or numpy\n",
               tree->python.string());
    return bootstrap::launcher::launcher_failed;
  }
  if (asked.none()) print_table(*tree);
  if (asked.version) fmt::print("{}\n", QUIRE_VERSION_STRING);
  if (asked.prefix) fmt::print("{}\n", tree->prefix.string());
  if (asked.pythonpath) fmt::print("{}\n", tree->python.string());
  if (asked.cmakedir) fmt::print("{}\n", cmake_folder(*tree).string());
  std::string flags;
  const auto add = [&flags](bool wanted, const std::string& words) {
    if (wanted && !words.empty()) flags += (flags.empty() ? "" : " ") + words;
  };
  add(asked.cflags, compile_flags(*tree));
  add(asked.fortran, quoted(fortran_source(*tree)));
  add(asked.libs, link_flags(*tree));
  if (asked.cflags || asked.fortran || asked.libs) fmt::print("{}\n", flags);
  return 0;
}

}  // namespace

void add_config(CLI::App& quire, session& about) {
  auto* command = quire.add_subcommand("config", "Print what one needs to compile a program with this Quire");
  command->prefix_command(false);
  const auto asked = std::make_shared<config_arguments>();
  command->add_flag("--cflags", asked->cflags, "Flags for the compiler (C++ also needs -std=c++20)");
  command->add_flag("--libs", asked->libs,
                    "Flags for the linker, and the path where the program finds the library when it runs");
  command->add_flag("--version", asked->version, "The version of Quire");
  command->add_flag("--prefix", asked->prefix, "Where this Quire is installed, or its build folder");
  command->add_flag("--cmakedir", asked->cmakedir, "The folder of quire-config.cmake (for -Dquire_DIR=)");
  command->add_flag("--fortran", asked->fortran, "The source of the Fortran module, to be compiled before the program");
  command->add_flag("--pythonpath", asked->pythonpath,
                    "The folder of the Python package, for PYTHONPATH (`quire run` adds it for an interpreter)");
  command->footer(
      "Without an option: all of it as a table. For example:\n"
      "  c++ -std=c++20 program.cpp -o program $(quire config --cflags --libs)\n"
      "  gfortran $(quire config --fortran) program.f90 -o program $(quire config --libs)");
  command->callback([asked, &about] { about.command = [asked] { return config(*asked); }; });
}

}  // namespace quire::tools
