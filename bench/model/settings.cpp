// SPDX-License-Identifier: BSD-3-Clause
#include "model/settings.hpp"

#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>

#include <CLI/CLI.hpp>

namespace bench::model {

using quire::timed::preset;
using quire::timed::price_option;

namespace {

/// "what it is; shm 1, tcp 2, ib 3" and so on
std::string about(const price_option& price) {
  std::string text = price.about;
  const char* separator = "; ";
  for (const char* name : quire::timed::preset_names) {
    text += separator + std::string(name) + " " + std::to_string(preset(name).*price.value);
    separator = ", ";
  }
  return text;
}

constexpr struct {
  const char* name;
  quire::timed::openmp_shape::construct what;
} constructs[] = {{"openmp-barrier", quire::timed::openmp_shape::construct::barrier},
                  {"openmp-region", quire::timed::openmp_shape::construct::region},
                  {"openmp-sum-gcc", quire::timed::openmp_shape::construct::sum_by_memory},
                  {"openmp-sum-clang", quire::timed::openmp_shape::construct::sum_by_messages}};

std::vector<std::string> names_of_constructs() {
  std::vector<std::string> names;
  for (const auto& c : constructs) names.emplace_back(c.name);
  return names;
}

void add_shapes(CLI::App& app, settings& wanted) {
  const auto positive = CLI::Range(1, 1 << 20);
  app.add_option("--sor-size", wanted.sor.size, "SOR: rows and columns")
      ->check(CLI::Range(3, 1 << 16))
      ->capture_default_str();
  app.add_option("--sor-iterations", wanted.sor.iterations, "SOR: sweeps over red and black")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--sor-cell-bytes", wanted.sor.cell_bytes, "SOR: bytes of a cell")
      ->check(CLI::IsMember({4, 8}))
      ->capture_default_str();
  app.add_option("--sor-cell-ns", wanted.sor.cell_ns, "SOR: time to update a cell")->capture_default_str();
  app.add_option("--cg-rows", wanted.cg.rows, "CG: rows; 14,000 is class A, 75,000 class B")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--cg-row-elements", wanted.cg.row_elements, "CG: elements of a row")->capture_default_str();
  app.add_option("--cg-iterations", wanted.cg.iterations, "CG: of the inverse iteration, with 25 steps each")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--cg-element-ns", wanted.cg.element_ns, "CG: time for an element of the matrix")
      ->capture_default_str();
  app.add_option("--md-particles", wanted.md.particles, "MD: particles")->check(positive)->capture_default_str();
  app.add_option("--md-steps", wanted.md.steps, "MD: steps in time")->check(positive)->capture_default_str();
  app.add_option("--md-pair-ns", wanted.md.pair_ns, "MD: time for what one particle does to another")
      ->capture_default_str();
  app.add_option("--helmholtz-rows", wanted.helmholtz.rows, "Helmholtz: rows and columns")
      ->check(CLI::Range(3, 1 << 16))
      ->each([&wanted](const std::string& rows) { wanted.helmholtz.columns = std::stoull(rows); })
      ->capture_default_str();
  app.add_option("--helmholtz-iterations", wanted.helmholtz.iterations, "Helmholtz: iterations")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--helmholtz-point-ns", wanted.helmholtz.point_ns, "Helmholtz: time for a new value")
      ->capture_default_str();
  app.add_option("--ep-batches", wanted.ep.batches, "EP: of 65,536 pairs; 512 is class W")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--ep-pair-ns", wanted.ep.pair_ns, "EP: time for a pair")->capture_default_str();
  app.add_option("--raytracer-width", wanted.raytracer.width, "ray tracer: pixels across")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--raytracer-height", wanted.raytracer.height, "ray tracer: pixels down")
      ->check(positive)
      ->capture_default_str();
  app.add_flag("--raytracer-papers-scene", wanted.raytracer.papers_scene,
               "ray tracer: rows take as long as those of 99 spheres and 8 triangles");
  app.add_option("--openmp-rounds", wanted.openmp_rounds, "constructs of OpenMP: how many of them")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--raytracer-pixel-ns", wanted.raytracer.pixel_ns, "ray tracer: time for a pixel")
      ->capture_default_str();
}

}  // namespace

settings parse(int argc, char** argv) {
  settings wanted;
  for (unsigned n = 1; n <= ::quire::model::max_nodes; n *= 2) wanted.nodes.push_back(n);
  CLI::App app{
      "What applications on Quire would cost on many nodes: the real protocols in virtual time (docs/design/model.md)"};
  app.add_option("--app", wanted.applications,
                 "access patterns: sor, cg, md, helmholtz, ep, raytracer, all of these unless given; constructs of "
                 "OpenMP: openmp-barrier, openmp-region, "
                 "openmp-sum-gcc, openmp-sum-clang")
      ->delimiter(',')
      ->check(CLI::IsMember(wanted.applications) | CLI::IsMember(names_of_constructs()));
  app.add_option("--consistency", wanted.consistencies,
                 "sequential, release; both unless given. transactional: of sor and raytracer")
      ->delimiter(',')
      ->check(CLI::IsMember({"sequential", "release", "transactional"}));
  std::string commit = wanted.node.commit->name;
  std::vector<std::string> commits;
  for (const auto& way : quire::timed::commit_ways) commits.emplace_back(way.name);
  app.add_option("--commit", commit, "how transactions commit")->check(CLI::IsMember(commits))->capture_default_str();
  app.add_option("--nodes", wanted.nodes, "numbers of nodes; 1, 2, 4 to 1024 unless given")
      ->delimiter(',')
      ->check(CLI::Range(1u, ::quire::model::max_nodes));
  app.add_option(
         "--network", wanted.network,
         "what the prices below are, unless they are given: shm, tcp: as measured; ib, gigabit, ethernet100: assumed")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(quire::timed::preset_names), std::end(quire::timed::preset_names))))
      ->capture_default_str();
  std::map<const price_option*, std::optional<std::uint64_t>> given;
  for (const price_option& price : quire::timed::price_options())
    app.add_option(price.name, given[&price], about(price));
  add_shapes(app, wanted);
  bool hints = true;
  app.add_flag("!--no-hints", hints, "programs do not say beforehand what they will touch");
  app.add_flag("!--no-read-ahead", wanted.node.read_ahead, "sweeps are not noticed");
  app.add_option("--unevenness", wanted.node.unevenness,
                 "threads compute faster or slower by up to this part, from one synchronisation to the next")
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  app.add_option("--runs", wanted.runs, "with --unevenness: of so many runs the median is told")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--cores", wanted.node.cores,
                 "as on one machine: cores that all nodes share; 0: each thread and each runtime has its own")
      ->capture_default_str();
  app.add_flag("--json", wanted.json, "a line of JSON for each run");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
  wanted.sor.hints = wanted.cg.hints = wanted.md.hints = wanted.helmholtz.hints = wanted.raytracer.hints = hints;
  for (const auto& way : quire::timed::commit_ways) {
    if (commit == way.name) wanted.node.commit = &way;
  }
  wanted.node.costs = preset(wanted.network);
  for (const auto& [price, value] : given) {
    if (value) wanted.node.costs.*price->value = *value;
  }
  return wanted;
}

quire::timed::pattern settings::pattern_of(const std::string& application, unsigned on_nodes,
                                           bool transactional) const {
  if (transactional && application != "sor" && application != "raytracer")
    throw std::runtime_error(application + " has no transactions");
  if (application == "sor") {
    quire::timed::sor_shape shape = sor;
    shape.transactional = transactional;
    return quire::timed::sor(shape, on_nodes);
  }
  if (application == "raytracer") {
    quire::timed::raytracer_shape shape = raytracer;
    shape.transactional = transactional;
    return quire::timed::raytracer(shape, on_nodes);
  }
  if (application == "cg") return quire::timed::cg(cg, on_nodes);
  if (application == "helmholtz") return quire::timed::helmholtz(helmholtz, on_nodes);
  if (application == "ep") return quire::timed::ep(ep, on_nodes);
  for (const auto& c : constructs) {
    if (application == c.name) return quire::timed::openmp({c.what, openmp_rounds});
  }
  return quire::timed::md(md, on_nodes);
}

}  // namespace bench::model
