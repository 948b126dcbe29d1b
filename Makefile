# SPDX-License-Identifier: BSD-3-Clause
# The commands of Quire. `make demo` and `make test` are all that a newcomer needs; both install what is missing (Debian,
# as root or by sudo), build, and run.
BUILD ?= build
CMAKE_FLAGS ?=
JOBS ?= $(shell nproc)
MINUTES ?= 10
SEED ?=
SOAK_FLAGS ?=
# What failed says so once more at the end.
failed = { status=$$?; scripts/failed_tests.py $(BUILD); exit $$status; }
# Tests wait more than they compute: by two for each core a fifth of the time is idle.
TEST_JOBS ?= $(shell expr 3 \* $(JOBS))

.PHONY: help demo test test-all soak nightly mutations machines bench bench-all benchmarks model build configure
.PHONY: setup install asan tsan fuzz site deb release recipes format clean
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

demo: configure ## build the library, run ray tracer and SOR on local nodes, check, picture in build/demo
	@tools/build_progress.py --build $(BUILD) --jobs $(JOBS) quire quire_tool $(foreach app,sor raytracer,$(app) $(app)_serial)
	@tools/demo.py --build $(BUILD)

test: build ## build all, run the tests; in the simulator a sixth of their seeds
	@(cd $(BUILD) && ctest --output-on-failure --no-tests=error -j $(TEST_JOBS)) || $(failed)

test-all: build ## every test with all seeds, and all programs over all pools, detectors and transports
	@(cd $(BUILD) && SIM_SEEDS=all ctest -C matrix --output-on-failure --no-tests=error -j $(TEST_JOBS)) || $(failed)

soak: build ## new seeds, random settings, stress and kills for MINUTES (10); SEED and SOAK_FLAGS as scripts/soak/run.py --help says
	@scripts/soak/run.py --build $(BUILD) --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(SOAK_FLAGS)

nightly: build ## a night (MINUTES=480) of soak, fuzzers and findings; what it finds becomes seeds and corpus
	@BUILD=$(BUILD) MINUTES=$(if $(filter command line environment,$(origin MINUTES)),$(MINUTES),480) scripts/nightly.sh

mutations: ## put bugs of the past back, one at a time: after how many seeds the simulator finds each; half an hour
	@scripts/mutations/run.py $(MUTATIONS)

machines: build ## programs on Debian's kernels 5.10, 6.1 and 6.12 in virtual machines, also two as hosts; docs/machines.md; qemu is installed
	@scripts/setup.sh machines
	@tests/machines/run.py --build $(BUILD) $(foreach kernel,5.10 6.1 6.12,--kernel $(kernel)) --hosts both --results $(BUILD)/machines/results.json \
		--document docs/machines.md

bench: benchmarks ## measure what has a target or a reader needs; table on the screen, in build/bench/results.json and in docs/results.md
	@bench/run.py --build $(BUILD)
	@bench/results.py --build $(BUILD)

bench-all: benchmarks ## measure everything, in more rounds
	@bench/run.py --build $(BUILD) --all
	@bench/results.py --build $(BUILD)

model: build ## what the applications would cost on 2 to 1,024 nodes; docs/design/model-results.md and model.svg
	@bench/model/model.py --build $(BUILD) --document docs/design

build: configure ## compile all
	@ninja -C $(BUILD) -j $(JOBS)

benchmarks: build
	@ninja -C $(BUILD) -j $(JOBS) benchmarks

configure: setup
	@tools/configure.py --build $(BUILD) $(CMAKE_FLAGS)

setup: ## install what the build needs and is missing
	@scripts/setup.sh

install: build ## install the library, headers and the quire command (PREFIX by CMAKE_FLAGS)
	@cmake --install $(BUILD)

asan: ## tests that can run under the address and undefined-behaviour sanitizers
	@scripts/sanitize.sh address,undefined

tsan: ## tests that can run under the thread sanitizer
	@scripts/sanitize.sh thread

fuzz: ## give random bytes to all decoders, FUZZ_SECONDS (120) in total; needs clang with libFuzzer
	@scripts/fuzz.sh || { status=$$?; [ $$status -eq 77 ] || exit $$status; }

site: build ## the documentation as HTML, in build/site/html; Sphinx is fetched
	@scripts/site.sh $(BUILD)

deb: build ## Debian packages in build/deb, tried on a clean Debian; as root
	@scripts/deb.sh $(BUILD)

release: build ## a tar that runs where it is unpacked, Debian packages and wheel in build/release, each tried; as root
	@scripts/release.sh $(BUILD)

recipes: ## lint the recipes for Spack and conda; rattler-build is fetched
	@scripts/recipes.sh $(BUILD)

format: ## clang-format over the sources
	@git ls-files '*.cpp' '*.hpp' '*.h' '*.c' | xargs -n 100 clang-format-14 -i

clean: ## remove the build
	@rm -rf $(BUILD)
