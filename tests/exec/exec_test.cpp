// SPDX-License-Identifier: BSD-3-Clause
// `quire exec`, and `quire run` and `quire info` of programs with OpenMP: what a program sees of its start, and what is
// refused. With a tree that looks installed and has a small runtime of these tests in the place of libquire_omp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "command.hpp"

namespace quire::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using words = std::vector<std::string>;
using nlohmann::json;

const std::string programs = QUIRE_PROGRAMS;

class Exec : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "quire-exec-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    plant(folder / "tree");
  }
  void TearDown() override { fs::remove_all(folder); }

  void plant(const fs::path& tree) {
    const fs::path library = tree / QUIRE_LIBDIR, bin = (tree / QUIRE_PREFIX_TO_BIN).lexically_normal();
    for (const auto& path : {library / "quire" / "openmp", bin, tree / QUIRE_INCLUDEDIR / "quire"})
      fs::create_directories(path);
    fs::copy_file(QUIRE_TOOL, bin / "quire");
    for (const char* name : {"libquire.so", "libquire.so.0"}) fs::create_symlink(QUIRE_LIBRARY, library / name);
    fs::create_symlink(QUIRE_SMALL_RUNTIME, library / "libquire_omp.so.0");
    for (const auto& file : fs::directory_iterator(QUIRE_STAND_INS))
      if (file.path().filename().string().starts_with("lib"))
        fs::create_symlink(file, library / "quire" / "openmp" / file.path().filename());
    std::ofstream(tree / QUIRE_INCLUDEDIR / "quire" / "quire.h") << "\n";
    quire = bin / "quire";
    runtime = library / "libquire_omp.so.0";
  }

  words quire_words(const words& rest) const {
    words all{quire};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }
  command_result quire_does(const words& rest, const command::settings& environment = {}) const {
    return run(quire_words(rest), environment);
  }
  /// Refused with this status, and a message that says this much.
  void refused(const words& rest, int status, const std::string& text,
               const command::settings& environment = {}) const {
    const auto result = quire_does(rest, environment);
    EXPECT_EQ(result.status, status) << result.out << result.err;
    EXPECT_THAT(result.err, StartsWith("quire " + rest[0] + ": "));
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_EQ(result.out, "");
  }
  std::string put(const std::string& name, const std::string& text, fs::perms rights = fs::perms::owner_all) const {
    std::ofstream(folder / name) << text;
    fs::permissions(folder / name, rights);
    return folder / name;
  }

  fs::path folder, quire, runtime;
};

class ExecOpenMP : public Exec {
 protected:
  void SetUp() override {
    if (!QUIRE_C_HAS_OPENMP) GTEST_SKIP() << "the C compiler has no OpenMP";
    Exec::SetUp();
  }
  const std::string program = programs + "/openmp_pie", fixed = programs + "/openmp_fixed",
                    barrier = programs + "/openmp_barrier";
};

TEST_F(ExecOpenMP, AProgramRunsWithTheRuntimeOfQuireAlone) {
  for (const auto& one : {program, fixed}) {
    const auto result = quire_does({"exec", one, "a", "--", "--any"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "") << "the loader warns of nothing";
    EXPECT_THAT(result.out, HasSubstr("the small runtime\nin the region\n"));
    EXPECT_THAT(result.out, HasSubstr("argument 0 " + one + "\nargument 1 a\nargument 2 --\nargument 3 --any\n"));
    for (std::size_t at = result.out.find("libgomp.so.1"); at != result.out.npos;
         at = result.out.find("libgomp.so.1", at + 1)) {
      const auto line = result.out.rfind('\n', at);
      const std::string before = result.out.substr(line + 1, at - line - 1);
      EXPECT_THAT(before, testing::AnyOf(HasSubstr("stand_ins"), HasSubstr("quire/openmp")))
          << "the real one is not loaded";
    }
  }
}

TEST_F(ExecOpenMP, TheExitStatusIsThePrograms) { EXPECT_EQ(quire_does({"exec", program, "fail"}).status, 7); }

TEST_F(ExecOpenMP, AddressesAreTheSameEachTime) {
  const auto main_of = [&](const command_result& result) {
    EXPECT_THAT(result.out, HasSubstr("random 0\n"));
    const auto at = result.out.find("main 0x");
    return at == result.out.npos ? "" : result.out.substr(at, result.out.find('\n', at) - at);
  };
  const auto first = main_of(quire_does({"exec", program}));
  EXPECT_NE(first, "");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(main_of(quire_does({"exec", program})), first);
}

TEST_F(ExecOpenMP, PreloadsInOrderAndRemembersWhatThereWas) {
  const auto plain = run({"env", "-u", "LD_PRELOAD", "-u", "LD_BIND_NOW", quire, "exec", program});
  EXPECT_THAT(plain.out, HasSubstr("QUIRE_EXEC_LD_PRELOAD=\n"));
  EXPECT_THAT(plain.out, HasSubstr("QUIRE_EXEC_LD_BIND_NOW=\n"));
  EXPECT_THAT(plain.out, HasSubstr("LD_BIND_NOW=1\n"));
  const fs::path library = folder / "tree" / QUIRE_LIBDIR, stand_ins = library / "quire" / "openmp";
  std::string list = "LD_PRELOAD=";
  for (const char* name : {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"})
    list += (stand_ins / name).string() + ":";
  list += (library / "libquire_omp.so.0").string() + ":" + (library / "libquire.so.0").string();
  EXPECT_THAT(plain.out, HasSubstr(list + "\n"));

  const auto users = run({"env", "LD_PRELOAD=libm.so.6", "LD_BIND_NOW=yes", quire, "exec", program});
  EXPECT_THAT(users.out, HasSubstr(list + ":libm.so.6\n"));
  EXPECT_THAT(users.out, HasSubstr("QUIRE_EXEC_LD_PRELOAD=libm.so.6\n"));
  EXPECT_THAT(users.out, HasSubstr("QUIRE_EXEC_LD_BIND_NOW=yes\n"));
}

TEST_F(ExecOpenMP, TheStacksLimitIsOneEverywhere) {
  rlimit own;
  ASSERT_EQ(::getrlimit(RLIMIT_STACK, &own), 0);
  if (own.rlim_max < rlim_t{64} << 20) GTEST_SKIP() << "the hard limit is low here";
  const auto with = [&](const std::string& limit, const words& rest) {
    words all{"sh", "-c", "ulimit -S -s " + limit + "; exec \"$@\"", "sh"};
    const auto after = quire_words(rest);
    all.insert(all.end(), after.begin(), after.end());
    return run(all).out;
  };
  EXPECT_THAT(with("1024", {"exec", program}), HasSubstr("stack 8388608\n"));
  EXPECT_THAT(with("1024", {"exec", program}), HasSubstr("QUIRE_EXEC_STACK=1048576\n"));
  EXPECT_THAT(with("1024", {"exec", "--stack", "16M", program}), HasSubstr("stack 16777216\n"));
  EXPECT_THAT(with("16384", {"run", "-n", "1", program}), HasSubstr("stack 16777216\n"))
      << "who sets it for `quire run` has asked";
  EXPECT_THAT(with("8192", {"run", "-n", "1", program}), HasSubstr("stack 8388608\n"));
}

TEST_F(ExecOpenMP, ALowerHardLimitIsTakenUnlessMoreIsAskedFor) {
  const auto limited = [&](const words& rest) {
    words all{"sh", "-c", "ulimit -s 4096; exec \"$@\"", "sh"};
    const auto after = quire_words(rest);
    all.insert(all.end(), after.begin(), after.end());
    return run(all);
  };
  EXPECT_THAT(limited({"exec", program}).out, HasSubstr("stack 4194304\n"));
  const auto result = limited({"exec", "--stack", "16M", program});
  EXPECT_EQ(result.status, 125);
  EXPECT_THAT(result.err, HasSubstr("the hard limit is 4194304 bytes"));
}

TEST_F(ExecOpenMP, SizesOfTheStackAreChecked) {
  for (const char* bad : {"3", "x", "8Q", "8MM", "-1", "99999999999T", "M", ""})
    if (*bad != '\0') refused({"exec", std::string("--stack=") + bad, program}, 125, "--stack");
}

TEST_F(ExecOpenMP, AProgramIsFoundInPath) {
  put("openmp_pie", "not to be executed", fs::perms::owner_read);
  const auto result = run({"env", "PATH=" + folder.string() + "::" + programs, quire, "exec", "openmp_pie", "x"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("argument 0 openmp_pie\nargument 1 x\n"));
}

TEST_F(ExecOpenMP, AddressesThatTheSystemDoesNotFixAreChosenHere) {
  const std::string without = programs + "/without_personality";
  words all{without};
  for (const auto& word : quire_words({"exec", program, "x y", ""})) all.push_back(word);
  if (run({without, "true"}).status == 77) GTEST_SKIP() << "no seccomp here";
  const auto result = run(all);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("argument 1 x y\nargument 2 \n"));
  // Where that cannot be, it is told what to allow.
  all.insert(all.begin(), {"prlimit", "--as=8000000000"});
  const auto narrow = run(all);
  EXPECT_EQ(narrow.status, 125) << narrow.out;
  EXPECT_THAT(narrow.err, HasSubstr("personality(ADDR_NO_RANDOMIZE) was refused, as some containers do, and"));
  EXPECT_THAT(narrow.err, HasSubstr("docker run --security-opt"));
}

TEST_F(ExecOpenMP, FunctionsThatAreLackingAreNamed) {
  refused({"exec", barrier}, 126,
          "calls functions of OpenMP that this Quire lacks: GOMP_barrier (`quire info " + barrier + "` lists all)");
  refused({"run", "-n", "2", barrier}, 126, "GOMP_barrier");
}

TEST_F(ExecOpenMP, ATreeWithoutTheRuntimeSaysSo) {
  fs::remove(runtime);
  refused({"exec", program}, 125, runtime.string() + " is missing: this Quire was built without its OpenMP runtime");
  refused({"run", "-n", "2", program}, 125, "is missing");
  std::ofstream(runtime) << "no library";
  refused({"exec", program}, 125, runtime.string() + " is no program (not an ELF file)");
}

TEST_F(ExecOpenMP, ATreeWhoseNameTheLoaderCannotTakeSaysSo) {
  plant(folder / "a tree");
  refused({"exec", program}, 125, "its name has a space or a colon");
}

TEST_F(ExecOpenMP, RunStartsTheNodesByExec) {
  const auto result = quire_does({"run", "-n", "3", "--tag", program, "x"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "") << "no warning of copies";
  for (const char* node : {"[0] ", "[1] ", "[2] "})
    EXPECT_THAT(result.out, HasSubstr(std::string(node) + "the small runtime\n"));
  EXPECT_THAT(quire_does({"run", "-n", "1", program, "fail"}).err, HasSubstr("status 7"));
}

/// Without the file of `quire`, whose start takes longer than all else of a node.
TEST_F(ExecOpenMP, RunDoesTheSameAsExecWithoutStartingIt) {
  const auto by_exec = quire_does({"run", "-n", "1", "env", program});
  const auto at_once = quire_does({"run", "-n", "1", program});
  EXPECT_EQ(at_once.status, 0) << at_once.err;
  const auto sorted = [](const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  EXPECT_EQ(sorted(at_once.out), sorted(by_exec.out));
  const std::string file = folder / "statistics.json";
  ASSERT_EQ(quire_does({"run", "-n", "1", "--stats=" + file, program, "a"}).status, 0);
  std::ifstream in(file);
  EXPECT_EQ(json::parse(in)["command"], (json{program, "a"}));
}

TEST_F(ExecOpenMP, RunStartsThemByExecOnOtherHosts) {
  const std::string agent = put("agent", "#!/bin/sh\nshift\nexec sh -c \"$*\"\n");
  const auto result = quire_does({"run", "--hosts", "a,b", "--agent", agent, program, "x"});
  EXPECT_EQ(result.status, 0) << result.err;
  const auto first = result.out.find("the small runtime");
  EXPECT_NE(first, result.out.npos);
  EXPECT_NE(result.out.find("the small runtime", first + 1), result.out.npos);
}

TEST_F(ExecOpenMP, RunLooksThroughWhatOnlyStartsAProgram) {
  const std::string own = quire;
  const words starters[] = {{"env", "A=b", "-"},
                            {"env"},
                            {"env", "-u", "A", "C=d", "nice", "-n", "1"},
                            {"nice", "-1"},
                            {"nohup"},
                            {"timeout", "-k", "5", "60"},
                            {"stdbuf", "-oL", "-e", "L"},
                            {"setarch", "x86_64", "-R"},
                            {"setsid", "-w"},
                            {own, "exec"},
                            {own, "exec", "--any", "--stack", "16M", "--"},
                            {"nice", own, "exec"}};
  for (const words& starter : starters) {
    words all{"run", "-n", "1"};
    all.insert(all.end(), starter.begin(), starter.end());
    if (starter.back() == "-") all.pop_back();
    all.insert(all.end(), {program, "x"});
    const auto result = quire_does(all);
    EXPECT_EQ(result.status, 0) << starter[0] << result.err;
    EXPECT_EQ(result.err, "") << starter[0];
    EXPECT_THAT(result.out, HasSubstr("the small runtime\n")) << starter[0];
    EXPECT_THAT(result.out, HasSubstr("\nargument 1 x\n")) << starter[0];
  }
  EXPECT_THAT(quire_does({"run", "-n", "1", "--copies", program}, {{"OMP_NUM_THREADS", "1"}}).out,
              Not(HasSubstr("the small runtime")));
  refused({"run", "-n", "2", own, "run", program}, 125, "quire run stands there twice");
  refused({"run", "-n", "2", own, "exec", own, "exec", program}, 125, "quire exec stands there twice");
  refused({"run", "-n", "2", "--memory", "mixed", own, "exec", "--memory=auto", program}, 125, "leave one out");
  refused({"run", "-n", "2", "env", "-i", program}, 125, "env -i takes away what tells the nodes of their job");
  refused({"run", "-n", "2", "--copies", "--memory", "mixed", program}, 125, "exclude each other");
  refused({"exec", own, "exec", program}, 126, "is Quire's command");
}

TEST_F(ExecOpenMP, WhatOtherProgramsStartIsSaidToBeCopies) {
  const std::string script = put("script", "#!/bin/sh\nexec '" + program + "' \"$@\"\n"),
                    hidden = put("hidden", "#!/bin/sh\na=" + program + "; $a\n"),
                    good = put("good", "#!/bin/sh\nexec " + quire.string() + " exec " + program + "\n");
  const auto says = [&](const words& command, const command::settings& more = {}) {
    words all{"run", "-n", "2"};
    all.insert(all.end(), command.begin(), command.end());
    command::settings environment{{"OMP_NUM_THREADS", "1"}};
    environment.insert(environment.end(), more.begin(), more.end());
    const auto result = quire_does(all, environment);
    EXPECT_EQ(result.status, 0) << command[0] << result.err;
    return result.err;
  };
  const std::string copies = program + " by it: copies that share nothing";
  for (const words& command : {words{script}, words{"sh", "-c", "exec " + program}, words{"sh", "-c", "$0", program},
                               words{"sh", script}, words{"xargs", "-n1", program}})
    EXPECT_THAT(says(command), HasSubstr(command[0] + " is started on each node, and " + copies));
  EXPECT_THAT(says({hidden}), HasSubstr("ran as 2 independent copies: nothing in it is linked with libquire"));
  EXPECT_EQ(says({script}, {{"QUIRE_LOG", "error"}}), "");
  EXPECT_EQ(says({"--copies", script}), "");
  EXPECT_THAT(says({good}), Not(HasSubstr("is started on each node")));
}

TEST_F(ExecOpenMP, WhatIsLeftRunningIsNamed) {
  const auto left = quire_does({"run", "-n", "2", "sh", "-c", "sleep 1000 &"});
  EXPECT_EQ(left.status, 0);
  EXPECT_THAT(left.err, HasSubstr("quire: ends sleep (pid "));
  EXPECT_THAT(left.err, HasSubstr("let them wait for it"));
  EXPECT_EQ(quire_does({"run", "-n", "2", "sh", "-c", "sleep 1000 & kill $!; true & wait"}).err, "");
}

TEST_F(ExecOpenMP, ProgramsWithAnotherRunTimeAreRefused) {
  const std::pair<const char*, const char*> rows[] = {
      {"asan",
       "is compiled with -fsanitize=address, whose run-time takes the memory in Quire's place: compile it without"},
      {"tsan", "is compiled with -fsanitize=thread"},
      {"msan", "is compiled with -fsanitize=memory"},
      {"checked", "has malloc() and pthread_create() of its own"},
      {"ubsan", "has the run-time of -fsanitize=undefined linked in"},
      {"go", "is a Go program"},
      {"musl", "is linked with another libc (its loader is /lib/ld-musl-x86_64.so.1): link it with glibc"},
      {"no_loader", "needs the loader /nowhere/ld-linux-x86-64.so.2, which is not here"}};
  for (const auto& [kind, text] : rows) {
    refused({"exec", programs + "/openmp_" + kind}, 126, text);
    refused({"run", "-n", "2", programs + "/openmp_" + kind}, 126, text);
    EXPECT_THAT(quire_does({"info", programs + "/openmp_" + kind}).out, HasSubstr("not at all: ")) << kind;
  }
}

TEST_F(ExecOpenMP, WhatTheSystemGivesRandomAddressesIsRefused) {
  const std::string copy = folder / "copy";
  fs::copy_file(program, copy);
  fs::permissions(copy, fs::perms::owner_all | fs::perms::set_uid);
  refused({"run", "-n", "2", copy}, 126, "is set-user-ID or set-group-ID: its addresses are random");
}

TEST_F(ExecOpenMP, BrokenAndOtherMachinesProgramsAreNoScripts) {
  std::ifstream file(program, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::string narrow = all, object = all;
  narrow[4] = 1;   // ELFCLASS32
  object[16] = 1;  // ET_REL
  refused({"run", "-n", "2", put("narrow", narrow)}, 126, "is a 32-bit program");
  refused({"run", "-n", "2", put("object", object)}, 126, "is an ELF file, but neither a program nor a library");
  for (const std::size_t bytes : {std::size_t{7}, std::size_t{100}, all.size() / 2})
    refused({"run", "-n", "2", put("cut", all.substr(0, bytes))}, 126, "is damaged: ");
  EXPECT_THAT(quire_does({"run", "-n", "2", "--copies", put("cut", all.substr(0, 100))}).err,
              Not(HasSubstr("is damaged: ")));
}

TEST_F(ExecOpenMP, OptionsForItOfAnotherProgram) {
  refused({"run", "-n", "2", "--memory", "mixed", folder / "missing"}, 127, "No such file or directory");
  refused({"run", "-n", "2", "--memory", "mixed", put("script", "#!/bin/sh\n")}, 126, "is a script");
  const auto result = quire_does({"run", "-n", "2", "--memory", "mixed", programs + "/without_openmp"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("--memory has no effect: " + programs + "/without_openmp has no threads"));
}

TEST_F(ExecOpenMP, InfoTellsWhatAProgramNeeds) {
  const auto told = [&](const std::string& path) {
    const auto result = quire_does({"info", "--json", path});
    EXPECT_EQ(result.status, 0) << result.err;
    return json::parse(result.out, nullptr, false);
  };
  const auto good = told(program);
  EXPECT_EQ(good["form"], "position_independent");
  EXPECT_EQ(good["static"], false);
  EXPECT_EQ(good["start"]["how"], "exec");
  EXPECT_EQ(good["openmp"]["runtimes"], json({"libgomp.so.1"}));
  EXPECT_EQ(good["openmp"]["functions"], json({"GOMP_parallel"}));
  EXPECT_EQ(good["openmp"]["versions"], json({"GOMP_4.0"}));
  EXPECT_TRUE(good["openmp"]["lacking"]["functions"].empty());
  EXPECT_EQ(told(fixed)["form"], "fixed_address");
  const auto bad = told(barrier);
  EXPECT_EQ(bad["start"]["how"], "refused");
  EXPECT_EQ(bad["openmp"]["lacking"]["functions"], json({"GOMP_barrier"}));
  const auto text = quire_does({"info", barrier}).out;
  EXPECT_THAT(text, HasSubstr("lacking       GOMP_barrier\n"));
  EXPECT_THAT(text, HasSubstr("functions     GOMP_barrier, GOMP_parallel\n"));
  fs::remove(runtime);
  EXPECT_THAT(quire_does({"info", barrier}).out, HasSubstr("not known: " + runtime.string() + " is missing"));
}

TEST_F(Exec, AllRuntimesHaveAStandIn) {
  const std::pair<std::string, std::string> rows[] = {
      {"llvm", "libomp.so"}, {"debian", "libomp.so.5"}, {"intel", "libiomp5.so"}};
  for (const auto& [name, runtime_name] : rows) {
    const std::string program = programs + "/" + name + "_program";
    EXPECT_EQ(run({program}).out, "the other runtime\n");
    const auto result = quire_does({"exec", program});
    EXPECT_EQ(result.status, 3) << result.err;
    EXPECT_EQ(result.out, "the small runtime\n");
    EXPECT_EQ(result.err, "");
    const auto told = json::parse(quire_does({"info", "--json", program}).out, nullptr, false);
    EXPECT_EQ(told["openmp"]["runtimes"], json({runtime_name}));
    EXPECT_EQ(told["openmp"]["versions"], json({"VERSION"}));
    EXPECT_EQ(told["openmp"]["functions"], json({"__kmpc_global_thread_num"}));
  }
}

TEST_F(Exec, AVersionOfLaterYearsIsNamed) {
  refused({"exec", programs + "/later_program"}, 126,
          "needs GOMP_99.0 of libgomp.so.1, which is newer than this Quire");
}

TEST_F(Exec, InfoTellsOfOtherPrograms) {
  const auto how = [&](const std::string& path) {
    return json::parse(quire_does({"info", "--json", path}).out, nullptr, false)["start"]["how"];
  };
  EXPECT_EQ(how("true"), "copies");
  EXPECT_EQ(how(programs + "/linked_statically"), "copies");
  EXPECT_EQ(how(QUIRE_LIBRARY), "not");
  refused({"info", put("text", "text")}, 126, "is no program (not an ELF file)");
  refused({"info", folder / "missing"}, 127, "No such file or directory");
}

TEST_F(Exec, WhatIsNoSuchProgramIsRefused) {
  refused({"exec"}, 125, "which program?");
  refused({"exec", "--stakc", "8M", "true"}, 125, "did you mean --stack?");
  refused({"exec", folder / "missing"}, 127, "No such file or directory");
  refused({"exec", "no-such-program-anywhere"}, 127, "No such file or directory");
  refused({"exec", folder}, 126, "is a directory");
  refused({"exec", put("plain", "text", fs::perms::owner_read)}, 126, "Permission denied");
  refused({"exec", put("text", "text")}, 126, "is no program (not an ELF file)");
  refused({"exec", put("script", "#!/bin/sh\n")}, 126, "is a script");
  refused({"exec", put("damaged", std::string("\x7f"
                                              "ELF\2\1\1",
                                              7))},
          126, "is damaged: its header is cut off");
  refused({"exec", programs + "/linked_statically"}, 126, "is linked statically");
  refused({"exec", QUIRE_LIBRARY}, 126, "is a library, not a program");
  std::string elsewhere{
      "\x7f"
      "ELF\2\1\1",
      7};
  elsewhere.resize(64);
  elsewhere[16] = 2, elsewhere[18] = '\xf3';
  refused({"exec", put("elsewhere", elsewhere)}, 126, "is for another machine (riscv");
}

TEST_F(Exec, AProgramWithoutOpenMPIsStartedOnlyIfThatIsMeant) {
  const std::string program = programs + "/without_openmp";
  refused({"exec", program}, 126,
          "needs no OpenMP runtime, and makes no threads: its nodes would have nothing to do (--any starts it all the "
          "same)");
  const auto result = quire_does({"exec", "--any", program});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("libquire_omp.so"));
}

TEST_F(Exec, AJobIsANumber) {
  const auto result = quire_does({"top", "abc"});
  EXPECT_EQ(result.status, 125);
  EXPECT_EQ(result.err, "quire: JOB: Value abc not in range 1 to 2147483647\n");
}

TEST_F(Exec, HelpNamesTheOptions) {
  const auto result = quire_does({"exec", "--help"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("Usage: quire exec [OPTIONS] PROGRAM [ARGUMENTS...]"));
}

}  // namespace
}  // namespace quire::test
