# Everything a person or CI does with the tree. Each target installs what it needs.

CARGO ?= cargo
PROFILE ?= release
TARGET := $(or $(CARGO_TARGET_DIR),target)

# The server that applications' tests are compared with.
REFERENCE ?= 127.0.0.1:3397

# The servers that climb the Tuningathon's ladder beside Iruka. Those that do not answer are left out.
PEERS ?= $(REFERENCE) 127.0.0.1:3318

.PHONY: run build package test test-drivers test-applications conformance bench tuningathon fuzz clean

run:
	tests/install.sh build
	$(CARGO) run --release --bin iruka -- serve

build:
	tests/install.sh build
	$(CARGO) build --release --bin iruka

# A tarball and a Debian package in target/package, tried in a root of their own; `make package PROFILE=quick` is for a look.
package:
	tests/install.sh test
	$(CARGO) build --profile $(PROFILE) --bin iruka
	$(CARGO) xtask package --binary $(TARGET)/$(PROFILE)/iruka --out $(TARGET)/package
	$(TARGET)/venv/bin/python tests/package/run.py --binary $(TARGET)/$(PROFILE)/iruka

test:
	tests/install.sh test
	tests/run.sh

test-drivers:
	tests/install.sh drivers
	$(CARGO) build --profile quick --bin iruka
	$(TARGET)/venv/bin/python tests/with_server.py --binary $(TARGET)/quick/iruka -- \
		$(TARGET)/venv/bin/python tests/drivers/run.py {target}

# Takes half an hour, and downloads. What passed at REFERENCE is kept in target/applications/results/mysql.
test-applications:
	tests/install.sh drivers
	python3 tests/applications/run.py install
	$(CARGO) build --profile quick --bin iruka
	test -d $(TARGET)/applications/results/mysql || python3 tests/applications/run.py run $(REFERENCE) mysql
	python3 tests/with_server.py --binary $(TARGET)/quick/iruka -- python3 tests/applications/run.py run {target} iruka
	python3 tests/applications/run.py causes mysql iruka
	python3 tests/applications/run.py compare mysql iruka

# The recorded streams are not in this repository: CONFORMANCE names the directory that has them and the program that replays them.
conformance:
	tests/install.sh test
	$(CARGO) build --release --bin iruka
	$(TARGET)/venv/bin/python tests/with_server.py --binary $(TARGET)/release/iruka --option=--secure-file-priv= --option=--local-infile=ON -- \
		$(TARGET)/venv/bin/python tests/conformance/run.py {target} --causes 40 --document docs/compatibility.md

bench:
	tests/install.sh test
	$(CARGO) build --release --bin iruka
	$(TARGET)/venv/bin/python benches/run.py

# `make tuningathon PROFILE=quick` is for a look.
tuningathon:
	tests/install.sh tuningathon
	$(CARGO) build --profile $(PROFILE) --bin iruka
	$(TARGET)/venv/bin/python benches/tuningathon.py --binary $(TARGET)/$(PROFILE)/iruka $(PEERS:%=--peer %)

fuzz:
	$(CARGO) xtask fuzz

clean:
	$(CARGO) clean
