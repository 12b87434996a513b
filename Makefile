# Short commands. They use CMake presets (CMakePresets.json); each target installs what it needs.
# Everything goes to build/ and demo/. SINEW_SETUP=skip leaves the system's packages alone.

SHELL := /bin/bash
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
# The folder of real characters, if there is one. Without it, tests that need it are skipped.
export SINEW_CORPUS ?= $(realpath ../shared/corpus)

.PHONY: help setup setup-web setup-test demo web web-test test test-deep bench evaluate fuzz format check clean wheel blender \
    blender-test package npm npm-test windows

help:
	@echo "make demo     set up, build, generate and bind a character; prints where the results are"
	@echo "make web      set up and build the studio, the page over sinew as WebAssembly;  make web-test tests it in Chromium"
	@echo "make wheel    build the Python wheel: build/wheel;  make blender the add-on for Blender: build/blender/sinew.zip"
	@echo "make npm      build the JavaScript package: build/sinew-skin-….tgz;  make npm-test tests it in node, Vite and Chromium"
	@echo "make package  build and test sinew.deb, a tarball, the wheel and the add-on: build/package"
	@echo "make windows  build sinew.exe, sinew_c.dll and the wheel for Windows: build/windows; tests them in wine"
	@echo "make blender-test  test the add-on in Blender, without a window and in one (about two minutes)"
	@echo "make test     before each commit: build, and test everything once (12 minutes on 2 cores)"
	@echo "make test-deep  before a merge, after make test: sanitizers, fuzzing, wheel, packages, the page in a browser"
	@echo "make bench    build and run the benchmarks: ratios to the baseline, curves in build/bench/curves.svg"
	@echo "make evaluate compare methods with the weights that artists shipped (needs SINEW_CORPUS)"
	@echo "make fuzz     fuzz the file readers and the binder for FUZZ_SECONDS (60) each"
	@echo "make format   format the C++ files;  make check only looks"
	@echo "make clean    remove build/ and demo/"

setup:
ifneq ($(SINEW_SETUP),skip)
	@scripts/setup
endif

demo: setup
	@scripts/demo

setup-web:
ifneq ($(SINEW_SETUP),skip)
	@scripts/setup web
endif

# Without emscripten and Chromium the stage web reports what it skips.
setup-test:
ifneq ($(SINEW_SETUP),skip)
	@scripts/setup web || { scripts/setup && echo "make: tests that need emscripten or Chromium will be SKIPPED"; }
endif

web: setup-web
	@scripts/web

# The tests in the browser with both modules; make test-deep builds the one without threads.
web-test: web
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target sinew_cli sinew_characters
	cd web && npx --no-install vitest run
	node web/e2e/studio.mjs

test: setup-test
	@scripts/test

test-deep: setup-test
	@scripts/test deep

# Installs the packages of the page as well, which the packages contain.
package: setup-web
ifneq ($(SINEW_SETUP),skip)
	@scripts/setup package
endif
	scripts/web
	scripts/package

npm: setup-web
	scripts/npm

# As a stranger would use it; installs node 18 or 20 from npm for the test.
npm-test: npm
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target sinew_cli sinew_characters
	node js/test/stranger.mjs build/sinew-skin-*.tgz --all

wheel: setup
	scripts/wheel

blender: setup
	scripts/blender

blender-test:
ifneq ($(SINEW_SETUP),skip)
	@scripts/setup blender
endif
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target sinew_c
	scripts/blender-test

windows: setup
ifneq ($(SINEW_SETUP),skip)
	@scripts/setup windows
endif
	scripts/windows

bench: setup
	cmake --preset bench
	cmake --build --preset bench -j $(JOBS)
	@set -e; for b in build/bench/bench/bench_*; do \
	    if [[ -f $$b && -x $$b && $$b != *voxelizers && $$b != *bench_heat ]]; then \
	        $$b --benchmark_out=$$b.json --benchmark_out_format=json > $$b.txt || { cat $$b.txt; exit 1; }; \
	        grep '^check' $$b.txt || true; scripts/research/bench-table $$b.json; fi; done
	scripts/research/bench-plot --wall build/bench/bench/bench_bind.json -o build/bench/curves.svg

# Tables and plots of docs/evaluation.md; all tables in build/evaluate/tables.md.
evaluate: setup
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target sinew_cli
	SINEW_CORPUS="$(SINEW_CORPUS)$(addprefix :,$(realpath ../shared/corpus-wild))" scripts/research/evaluate

fuzz: setup
	@scripts/fuzz $(FUZZ_SECONDS)

format: setup
	scripts/format

check: setup
	scripts/check

clean:
	rm -rf build demo
