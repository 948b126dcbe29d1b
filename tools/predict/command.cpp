// SPDX-License-Identifier: BSD-3-Clause
// `quire predict`: runs a program on this machine as so many nodes as are asked for, one number after the other, and
// tells what each would take on hosts of their own.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/options.hpp"
#include "bootstrap/launcher/launcher.hpp"
#include "command_lines.hpp"
#include "commands.hpp"
#include "closed_options.hpp"
#include "exec_plan.hpp"
#include "kept_input.hpp"
#include "os/file_content.hpp"
#include "os/process.hpp"
#include "predict/choice.hpp"
#include "predict/job_run.hpp"
#include "predict/network.hpp"
#include "predict/page.hpp"
#include "predict/prediction.hpp"
#include "predict/reasons.hpp"
#include "predict/replay.hpp"
#include "predict/unseen.hpp"
#include "run_program.hpp"

namespace quire::tools {
namespace {

using bootstrap::launcher::launcher_failed;
using predict::hardware;
using predict::network;
using predict::outcome;
using predict::prediction;
using predict::shares;

struct predict_arguments {
  std::string nodes = "1,2,4", network_name = "10g", page;
  unsigned threads = 1, per_host = 1, cores = 0;
  double speed = 1, seconds = 0, within = 600;
  bool json = false, shows = false, explains = false, chooses = false;
  bool has_within = false;  ///< `within` was given
  std::string memory, place;
  std::vector<std::string> settings;  ///< --set
};

/// Options of every run.
std::vector<std::string> run_options(const predict_arguments& asked) {
  std::vector<std::string> words;
  if (!asked.memory.empty()) words.insert(words.end(), {"--memory", asked.memory});
  if (!asked.place.empty()) words.insert(words.end(), {"--place", asked.place});
  for (const auto& one : asked.settings) words.insert(words.end(), {"--set", one});
  return words;
}

/// Whether --place is for this program.
bool places_threads(std::vector<std::string> command) {
  run_program program;
  return prepare(command, {"", "", false, false}, program) == 0 && program.places_threads;
}

/// CLI11's range takes what is no number ("nan") for one.
CLI::Validator finite_range(double least, double most) {
  return CLI::Validator(
      [least, most](const std::string& text) -> std::string {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most) return {};
        return fmt::format("{} is no number from {:g} to {:g}", text, least, most);
      },
      fmt::format("FLOAT in [{:g} - {:g}]", least, most));
}

int refuse_predict(const std::string& why) {
  fmt::print(stderr, "quire predict: {}\n", why);
  return launcher_failed;
}

std::optional<network> network_of(const std::string& name, std::string& why) {
  const auto& known = predict::known_networks();
  const auto found = std::ranges::find(known, name, &network::name);
  if (found != known.end()) return *found;
  const auto file = os::content_of(name);
  if (file.error != 0) {
    std::vector<std::string_view> names;
    for (const auto& one : known) names.push_back(one.name);
    const auto nearest = base::nearest_word(name, names);
    why = fmt::format("--network {}: neither a file nor one of loopback, 1g, 10g, 25g, 100g, ib-hdr{}", name,
                      nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
    return std::nullopt;
  }
  auto read = predict::read_network(file.text, why);
  if (read)
    read->name = name;
  else
    why = fmt::format("--network {} is no file of a network: {}", name, why);
  return read;
}

/// Of "1,2,4", in order. Empty, and a sentence in `why`.
std::vector<unsigned> numbers_of(const std::string& text, std::string& why) {
  std::vector<unsigned> numbers;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data() + from, text.data() + to, number);
    if (error != std::errc{} || end != text.data() + to || number < 1 ||
        number > static_cast<unsigned>(base::most_nodes)) {
      why = fmt::format("-n {}: numbers from 1 to {}, with commas between them, as in 1,2,4", text, base::most_nodes);
      return {};
    }
    numbers.push_back(number);
    from = to + 1;
  }
  std::ranges::sort(numbers);
  const auto same = std::ranges::unique(numbers);
  numbers.erase(same.begin(), same.end());
  return numbers;
}

prediction predict_one(const predict::run_result& run, unsigned nodes, const hardware& on) {
  prediction p;
  p.nodes = nodes;
  p.run_seconds = run.seconds;
  p.was_cut = run.was_cut;
  if (run.was_cut) p.silent_ns = predict::silent_ns(run.events, run.cut_ns);
  p.likely = predict::replay(run.events, on, predict::order::likely);
  outcome others[] = {predict::replay(run.events, on, predict::order::loose),
                      predict::replay(run.events, on, predict::order::strict), p.likely};
  const auto [least, most] = std::ranges::minmax_element(others, {}, &outcome::ns);
  p.least = *least;
  p.most = *most;
  predict::widen(p);
  return p;
}

void print_table(const std::vector<prediction>& all, const network& net) {
  fmt::print("network {}: {:.4g} us, {}\n", net.name, net.latency_ns / 1000,
             net.bytes_a_second > 0 ? fmt::format("{:.4g} MB/s a host", net.bytes_a_second / 1e6) : "no limit");
  fmt::print("{:>5} {:>9} {:>19} {:>8} {:>13}  {:>5} {:>6} {:>8} {:>5} {:>5}   {:>9} {:>8}\n", "nodes", "seconds",
             "range", "speed-up", "range", "work", "faults", "barriers", "locks", "other", "messages", "MB");
  for (const prediction& p : all) {
    const shares s = predict::shares_of(p.likely);
    fmt::print(
        "{:>5} {:>9.3f} {:>19} {:>8.2f} {:>13}  {:>4.0f}% {:>5.0f}% {:>7.0f}% {:>4.0f}% {:>4.0f}%   {:>9} {:>8.1f}\n",
        p.nodes, p.likely.ns / 1e9, fmt::format("{:.3f} to {:.3f}", p.least.ns / 1e9, p.most.ns / 1e9),
        predict::gain_of(all.front(), p.likely.ns, p),
        fmt::format("{:.2f} to {:.2f}", predict::gain_of(all.front(), p.most.ns, p),
                    predict::gain_of(all.front(), p.least.ns, p)),
        s.work, s.faults, s.barriers, s.locks, s.other, p.likely.messages, static_cast<double>(p.likely.bytes) / 1e6);
  }
}

nlohmann::ordered_json json_of(const std::vector<prediction>& all, const network& net,
                               const std::vector<std::string>& reasons) {
  nlohmann::ordered_json told;
  told["network"] = {{"name", net.name},
                     {"latency_us", net.latency_ns / 1000},
                     {"send_us", net.send_ns / 1000},
                     {"receive_us", net.receive_ns / 1000},
                     {"wake_us", net.wake_ns / 1000},
                     {"beside_us", net.beside_ns / 1000},
                     {"megabytes_a_second", net.bytes_a_second / 1e6}};
  for (const prediction& p : all) {
    const shares s = predict::shares_of(p.likely);
    told["predictions"].push_back(
        {{"nodes", p.nodes},
         {"seconds", p.likely.ns / 1e9},
         {"least_seconds", p.least.ns / 1e9},
         {"most_seconds", p.most.ns / 1e9},
         {"speed_up", predict::gain_of(all.front(), p.likely.ns, p)},
         {"least_speed_up", predict::gain_of(all.front(), p.most.ns, p)},
         {"most_speed_up", predict::gain_of(all.front(), p.least.ns, p)},
         {"work_percent", s.work},
         {"faults_percent", s.faults},
         {"barriers_percent", s.barriers},
         {"locks_percent", s.locks},
         {"other_percent", s.other},
         {"threads", p.likely.threads},
         {"messages", p.likely.messages},
         {"bytes", p.likely.bytes},
         {"busiest_link_percent", p.likely.ns > 0 ? 100 * p.likely.busiest_link_ns / p.likely.ns : 0},
         {"slept_seconds", p.likely.slept_ns / 1e9},
         {"turned_locks", p.likely.turned},
         {"unseen_work_seconds", p.likely.unseen_ns / 1e9},
         {"was_cut", p.was_cut},
         {"seconds_of_this_run", p.run_seconds}});
  }
  if (!reasons.empty()) told["reasons"] = reasons;
  return told;
}

hardware hardware_of(const predict_arguments& asked, const network& net, unsigned nodes) {
  hardware on;
  on.net = net;
  on.nodes_a_host = net.name == "loopback" ? nodes : asked.per_host;
  on.threads_a_node = asked.threads;
  on.cores_a_node = asked.cores != 0 ? std::max(1u, asked.cores / asked.per_host) : asked.threads + 1;
  on.speed = asked.speed;
  on.local_latency_ns = 300;
  on.take_ns = 200;
  return on;
}

void tell_doubts(const prediction& p) {
  if (p.likely.undone != 0)
    fmt::print(stderr, "quire predict: {} events of the run on {} nodes wait for what is not recorded\n",
               p.likely.undone, p.nodes);
  if (p.likely.turned != 0)
    fmt::print(stderr,
               "quire predict: on {} nodes locks would be asked for {} times by another thread first than in this run: "
               "the range has what that may change\n",
               p.nodes, p.likely.turned);
  if (p.was_cut && p.silent_ns > 0.1e9 * p.run_seconds)
    fmt::print(stderr,
               "quire predict: on {} nodes a thread asked Quire for nothing in the last {:.1f} s before the run was "
               "ended: what it did then is not in the prediction; a run that ends is told whole\n",
               p.nodes, p.silent_ns / 1e9);
  if (p.likely.unseen_ns > 0.1 * p.likely.work_ns)
    fmt::print(stderr,
               "quire predict: on {} nodes {:.0f} % of the work is of threads while they ask Quire for nothing: it is "
               "taken as spread evenly over the threads of its node\n",
               p.nodes, 100 * p.likely.unseen_ns / p.likely.work_ns);
  // Of several threads of a node it is not known whether they have slept, or waited for one another.
  if (p.likely.threads <= p.nodes && p.likely.slept_ns > 0.01 * p.likely.ns)
    fmt::print(stderr,
               "quire predict: on {} nodes threads slept {:.2f} s in calls that are not Quire's, as to wait for time, "
               "files or sockets: that counts as it was\n",
               p.nodes, p.likely.slept_ns / 1e9);
}

bool write_page(const std::string& file, const std::string& text, std::string& why) {
  errno = 0;
  std::ofstream to(file, std::ios::trunc);
  to << text;
  to.close();
  if (to.fail()) why = fmt::format("cannot write {}: {}", file, os::error_text(errno));
  return !to.fail();
}

predict::run_wishes wishes_of(const predict_arguments& asked, const std::vector<std::string>& command, unsigned nodes,
                              const network& net) {
  predict::run_wishes all;
  all.command = command;
  all.run_options = run_options(asked);
  all.nodes = nodes;
  all.threads_a_node = asked.threads;
  all.nodes_a_host = net.name == "loopback" ? nodes : asked.per_host;
  all.net = net;
  all.seconds = asked.seconds;
  return all;
}

/// As they are, and one more for the report: as many nodes as there were at the most.
predict::run_wishes explained(predict::run_wishes all, const predict_arguments& asked) {
  all.explains = true;
  all.closed = closed_options(asked.memory, asked.place, asked.settings, all.command);
  all.places_threads = places_threads(all.command);
  return all;
}

/// What stops the program, and where.
std::vector<std::string> reasons_of(const predict_arguments& asked, const std::vector<std::string>& program,
                                    const std::vector<prediction>& all, const network& net, const kept_input& input) {
  auto said = predict::what_stops(all);
  std::string why;
  int status = 0;
  input.rewind();
  const auto run =
      predict::run_recorded(explained(wishes_of(asked, program, all.back().nodes, net), asked), why, status);
  if (run) std::ranges::copy(run->reasons, std::back_inserter(said));
  if (!why.empty()) said.push_back("where that is cannot be told: " + why);
  return said;
}

void say(const std::string& text) { fmt::print(stderr, "quire predict: --auto: {}\n", text); }

/// The time that --auto may take.
class budget {
 public:
  explicit budget(double seconds) : seconds_(seconds) {}
  [[nodiscard]] double left() const {
    return std::max(0.0, seconds_ - static_cast<double>(base::now_ns() - begin_) / 1e9);
  }
  /// For one run that tries something: others took `usual`.
  [[nodiscard]] double for_trial(double usual) const { return std::min(left(), 3 * usual + 10); }

 private:
  double seconds_;
  std::uint64_t begin_ = base::now_ns();
};

/// The command of the choice, as a shell takes it.
std::string command_of(const predict::choice& chosen, const predict_arguments& asked,
                       const std::vector<std::string>& program) {
  // The run that was looked at had this, too.
  std::string command =
      std::getenv("OMP_NUM_THREADS") == nullptr ? fmt::format("OMP_NUM_THREADS={} ", chosen.nodes * asked.threads) : "";
  command += fmt::format("quire run -n {}", chosen.nodes);
  for (const auto& word : run_options(asked)) command += " " + plain_or_quoted(word);
  for (const auto& word : chosen.options) command += " " + plain_or_quoted(word);
  for (const auto& word : program)
    command += " " + plain_or_quoted(predict::with_numbers(word, chosen.nodes, asked.threads));
  return command;
}

/// What the advisor chooses, with what it has tried on standard error: the command.
void tell_choice(const predict_arguments& asked, const std::vector<std::string>& program, const network& net,
                 const std::vector<prediction>& all, const budget& time, const kept_input& input) {
  std::string why;
  int status = 0;
  const unsigned most = all.back().nodes;
  const double usual = std::ranges::max_element(all, {}, &prediction::run_seconds)->run_seconds;
  say(fmt::format("looks where the program waits on {} nodes; at most {:.0f} s are left", most, time.left()));
  auto wanted = wishes_of(asked, program, most, net);
  wanted.seconds = time.for_trial(usual);
  input.rewind();
  std::vector<predict::candidate> worth_a_try;
  if (const auto run = predict::run_recorded(explained(wanted, asked), why, status)) worth_a_try = run->worth_a_try;
  if (!why.empty()) say("where that is cannot be told, so only numbers of nodes are compared: " + why);
  const auto predicted = [&](unsigned nodes, const std::vector<std::string>& options) -> std::optional<double> {
    auto trial = wishes_of(asked, program, nodes, net);
    trial.run_options.insert(trial.run_options.end(), options.begin(), options.end());
    trial.seconds = time.for_trial(usual);
    if (trial.seconds < usual) return std::nullopt;
    input.rewind();
    std::string ignored;
    const auto run = predict::run_recorded(trial, ignored, status);
    if (!run || run->was_cut) return std::nullopt;
    return predict_one(*run, nodes, hardware_of(asked, net, nodes)).likely.ns;
  };
  std::vector<predict::known_time> known;
  for (const prediction& p : all) known.push_back({p.nodes, p.likely.ns});
  const auto chosen = predict::choose(known, worth_a_try, predicted, say);
  if (time.left() < usual) say("the time that it may take is over: --within gives more");
  say(fmt::format("{:.3f} s on {} nodes, by", chosen.ns / 1e9, chosen.nodes));
  fmt::print("{}\n", command_of(chosen, asked, program));
}

int tell_all(const predict_arguments& asked, const std::vector<predict::page_entry>& entries, const network& net,
             const std::vector<std::string>& program, const budget& time, const kept_input& input) {
  std::vector<prediction> all;
  for (const auto& one : entries) all.push_back(one.told);
  std::string command =
      fmt::format("quire predict -n {} --network {}", plain_or_quoted(asked.nodes), plain_or_quoted(net.name));
  if (asked.threads != 1) command += fmt::format(" --threads {}", asked.threads);
  if (asked.per_host != 1) command += fmt::format(" --per-host {}", asked.per_host);
  if (asked.cores != 0) command += fmt::format(" --cores {}", asked.cores);
  for (const auto& word : run_options(asked)) command += " " + plain_or_quoted(word);
  for (const auto& word : program) command += " " + plain_or_quoted(word);
  std::vector<std::string> reasons;
  if (asked.explains) reasons = reasons_of(asked, program, all, net, input);
  if (asked.json)
    fmt::print("{}\n", json_of(all, net, reasons).dump(2));
  else
    print_table(all, net);
  for (const auto& one : reasons)
    if (!asked.json) fmt::print("{}\n", one);
  if (asked.chooses) tell_choice(asked, program, net, all, time, input);
  if (std::string why;
      !asked.page.empty() && !write_page(asked.page, predict::page(entries, net, command, reasons), why))
    return refuse_predict(why);
  return 0;
}

/// With a line of progress, where somebody looks or waits.
std::optional<predict::page_entry> run_on(const predict_arguments& asked, const std::vector<std::string>& command,
                                          unsigned nodes, const network& net, const budget& time, int& status) {
  auto wanted = wishes_of(asked, command, nodes, net);
  wanted.shows = asked.shows;
  if (asked.chooses) wanted.seconds = std::max(0.1, time.left());
  if (asked.chooses || ::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "quire predict: runs on {} nodes ...\n", nodes);
  std::string why;
  const auto run = predict::run_recorded(wanted, why, status);
  if (run && run->was_cut && asked.chooses)
    why = fmt::format(
        "on {} nodes the program had not ended after {:.1f} s, and --auto compares whole runs: a smaller input, or "
        "--within SECONDS, which is {:g} now",
        nodes, wanted.seconds, asked.within);
  if (!why.empty()) {
    (void)refuse_predict(why);
    status = status != 0 ? status : launcher_failed;
    return std::nullopt;
  }
  const hardware on = hardware_of(asked, net, nodes);
  predict::page_entry one{predict_one(*run, nodes, on), {}};
  if (!asked.page.empty()) one.grid = predict::grid_of(run->events, on);
  return one;
}

/// What is wrong with them; empty: nothing.
std::string wrong_arguments(const predict_arguments& asked, const std::vector<std::string>& command) {
  if (command.empty() || command[0].empty())
    return "which program? For example: quire predict -n 1,2,4 ./program arguments";
  if (asked.chooses && (asked.json || asked.seconds > 0))
    return "--auto compares whole runs, and ends with a command: without --json and --seconds (--within ends it)";
  if (asked.cores != 0 && asked.cores < asked.per_host)
    return fmt::format("--cores {}: a host with {} nodes has a core for each", asked.cores, asked.per_host);
  return {};
}

/// How long standard input may take to end.
double seconds_for_input(const predict_arguments& asked) {
  if (asked.seconds > 0) return asked.seconds;
  return asked.has_within ? asked.within : kept_input::usual_seconds;
}

int predict_all(const predict_arguments& asked, const std::vector<std::string>& command) {
  if (const auto wrong = wrong_arguments(asked, command); !wrong.empty()) return refuse_predict(wrong);
  std::string why;
  const auto net = network_of(asked.network_name, why);
  if (!net) return refuse_predict(why);
  const auto numbers = numbers_of(asked.nodes, why);
  if (numbers.empty()) return refuse_predict(why);
  if (!asked.page.empty() && !write_page(asked.page, "", why)) return refuse_predict(why);
  const kept_input input(true, seconds_for_input(asked),
                         [](const std::string& text) { fmt::print(stderr, "quire predict: {}\n", text); });
  if (!input.why_not().empty()) return refuse_predict(input.why_not());
  const budget time(asked.within);
  std::vector<predict::page_entry> all;
  for (const unsigned nodes : numbers) {
    int status = 0;
    input.rewind();
    const auto one = run_on(asked, command, nodes, *net, time, status);
    if (!one) return status;
    all.push_back(*one);
    tell_doubts(all.back().told);
  }
  return tell_all(asked, all, *net, command, time, input);
}

}  // namespace

void add_predict(CLI::App& quire, session& about) {
  auto* command = quire.add_subcommand(
      "predict", "Run a program on this machine, and tell what it would take on several machines and a network");
  const auto asked = std::make_shared<predict_arguments>();
  command->prefix_command();
  command->add_option("-n,--nodes", asked->nodes, "Numbers of nodes; the speed-up is told against the least")
      ->type_name("NUMBERS")
      ->capture_default_str();
  command
      ->add_option("--network", asked->network_name,
                   "loopback (all on one host), 1g, 10g, 25g, 100g, ib-hdr, or a file with a network's figures")
      ->capture_default_str();
  command->add_option("--threads", asked->threads, "Threads of OpenMP a node, unless OMP_NUM_THREADS is set")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  command->add_option("--per-host", asked->per_host, "Nodes of a host, which share its link")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  command->add_option("--cores", asked->cores, "Cores of a host; without, one more than its nodes' threads")
      ->check(CLI::Range(1u, 65536u));
  command->add_option("--speed", asked->speed, "Of the hosts' cores, in that of this machine's")
      ->check(finite_range(0.01, 100))
      ->capture_default_str();
  command->add_option("--seconds", asked->seconds, "End each run after this time, and predict from what was done")
      ->check(finite_range(0.1, 1e9));
  command->add_option("--within", asked->within, "Of --auto: seconds that it may take, all its runs together")
      ->check(finite_range(1, 1e9))
      ->capture_default_str();
  command->add_option("--memory", asked->memory, "As of quire run: sequential, mixed or auto")
      ->check(CLI::IsMember({sequential_memory, mixed_memory, automatic_memory}));
  command->add_option("--place", asked->place, "As of quire run: where threads begin")
      ->type_name("HOW")
      ->check(CLI::Validator(wrong_place, ""));
  command->add_option("--set", asked->settings, "As of quire run: an option of `quire info --options`")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("-o,--output", asked->page, "A page with the curve, and sliders for latency and bandwidth")
      ->type_name("FILE.html");
  command->add_flag("--why", asked->explains,
                    "Run once more, and say what stops the program from gaining more, where, and what to try");
  command->add_flag("--auto", asked->chooses,
                    "Try options that leave the program's meaning as it is, and end with the command that is fastest");
  command->add_flag("--json", asked->json, "As JSON");
  command->add_flag("--show", asked->shows, "Show what the program writes on its standard output");
  command->footer(
      "The program runs once for each number of nodes, and may take as long as its work on all of them together.\n"
      "In its arguments {nodes} stands for that number, {threads} for the number of threads on all nodes.\n"
      "Example: quire predict -n 1,2,4,8 --network 25g ./program --threads {threads}");
  command->callback([&about, command, asked] {
    about.command = [&about, command, asked]() -> int {
      std::vector<std::string> words = command->remaining();
      if (!words.empty() && words[0].starts_with('-'))
        return refuse_predict(unknown_option_text(*command, "predict", words[0]));
      const std::size_t ours = words.empty() && !about.after_dashes.empty() ? 1 : 0;
      words.insert(words.end(), about.after_dashes.begin() + static_cast<std::ptrdiff_t>(ours),
                   about.after_dashes.end());
      asked->has_within = command->count("--within") != 0;
      return predict_all(*asked, words);
    };
  });
}

}  // namespace quire::tools
