# `make demo` and `make test` set themselves up on a bare Debian or Ubuntu machine; `make help` lists the rest.
SHELL := /bin/bash
.DEFAULT_GOAL := help
BIN := .venv/bin
STAMPS := .venv/.stamps
LAB ?= lab
CRATES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
# What the storage experiments need in a User-Mode Linux guest or on loop devices.
STORAGE_TOOLS := fio=fio mdadm=mdadm mkfs.ext4=e2fsprogs mkfs.xfs=xfsprogs mkfs.btrfs=btrfs-progs \
	mkfs.f2fs=f2fs-tools mkfs.jfs=jfsutils? mkfs.reiserfs=reiserfsprogs? bwrap=bubblewrap
# What the slow tests need to build guest images and boot them.
GUEST_TOOLS := qemu-system-x86_64=qemu-system-x86 qemu-img=qemu-utils mmdebstrap=mmdebstrap \
	mkfs.erofs=erofs-utils newuidmap=uidmap mke2fs=e2fsprogs
# What opens a report's page in the tests.
BROWSER := chromium|chromium-browser|google-chrome=chromium?
# What they need to fetch releases that are packed for npm and Maven.
RELEASE_TOOLS := npm=npm? mvn=maven?
export PATH := $(CURDIR)/$(BIN):$(PATH):$(HOME)/.cargo/bin

.PHONY: help demo test test-all check lint bench bench-search setup setup-dev docs dist lock clean

help: ## list these targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: setup ## run the thread-cache experiment on a private server and write its report (about 4 minutes)
	mydyno run experiments/thread-cache.yaml --size demo --again --lab $(LAB)

test: setup-dev ## set up, then every check: style, types, unit, property, golden and live tests
	@tools/check.sh

test-all: setup-dev $(STAMPS)/guests ## the same and the slow tests
	@tools/check.sh --slow

check: setup-dev ## after each change: style, types, layers, and the tests of what has changed, without servers
	@tools/check.sh --changed

lint: setup-dev ## style, types and layers only
	@tools/check.sh --lint

bench: setup-dev ## measure engine, advice and digest against their peers, and what changes between trials take, here
	python benchmarks/engine_vs_sysbench.py
	python benchmarks/engine_vs_sysbench.py --mode prepared
	python benchmarks/engine_vs_sysbench.py --script read-write
	python benchmarks/capture.py
	python benchmarks/hosts.py
	python benchmarks/lab_at_scale.py
	python benchmarks/loading_vs_sysbench.py
	python benchmarks/replay.py
	python benchmarks/rehearse.py
	python benchmarks/report_page.py
	python benchmarks/sampling_overhead.py
	python benchmarks/serve_cost.py
	python benchmarks/slices_vs_blocks.py
	python benchmarks/storage_change.py
	python benchmarks/storage_ground.py
	python benchmarks/turnaround.py
	python benchmarks/vm_base.py
	python benchmarks/advice_vs_peers.py
	python benchmarks/digest_vs_peers.py

bench-search: setup-dev ## compare searches with each other and with settings as shipped, by hand and advised (hours)
	python benchmarks/samplers.py
	python benchmarks/search.py

setup: $(STAMPS)/mydyno ## what `make demo` needs
setup-dev: $(STAMPS)/dev $(STAMPS)/tests ## what `make test` needs

$(STAMPS)/runtime: requirements/runtime.txt requirements/build.txt tools/setup.sh
	@tools/setup.sh system
	@tools/setup.sh python requirements/runtime.txt
	@tools/setup.sh python requirements/build.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/mydyno: $(STAMPS)/runtime pyproject.toml $(CRATES)
	@tools/setup.sh mydyno
	@touch $@

$(STAMPS)/dev: $(STAMPS)/mydyno requirements/dev.txt
	@tools/setup.sh system sysbench=sysbench 'mariadb-slap|mysqlslap=mariadb-client' '$(BROWSER)' $(STORAGE_TOOLS)
	@tools/setup.sh python requirements/dev.txt
	@mydyno images fetch || echo '==> no User-Mode Linux kernel is available: tests that need a guest are skipped'
	@touch $@

$(STAMPS)/tests: Cargo.lock | $(STAMPS)/dev
	@tools/setup.sh tests
	@touch $@

$(STAMPS)/guests: $(STAMPS)/dev
	@tools/setup.sh system $(GUEST_TOOLS) $(RELEASE_TOOLS)
	mydyno images build
	@touch $@

docs: setup-dev ## write the generated documentation anew
	python tools/document_cli.py
	python tools/document_rules.py
	python -m mydyno.lab.spec.reference docs/reference/experiment-file.md
	python -m mydyno.lab.workload.reference docs/reference/workloads.md

dist: setup ## build dist/: the source archive, and the wheel with the static programs
	@tools/dist.sh

lock: ## pin requirements/*.in anew, with hashes
	@tools/lock.sh

clean: ## remove what was built (not the lab)
	rm -rf .venv target build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
