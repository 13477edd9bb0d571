# Everything a person or CI does with the tree. Each target installs what it needs.

CARGO ?= cargo
PROFILE ?= release
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: run build test test-drivers conformance bench fuzz clean

run:
	tests/install.sh build
	$(CARGO) run --release --bin iruka -- serve

build:
	tests/install.sh build
	$(CARGO) build --release --bin iruka

test:
	tests/install.sh test
	tests/run.sh

test-drivers:
	tests/install.sh drivers
	$(CARGO) build --profile quick --bin iruka
	$(TARGET)/venv/bin/python tests/with_server.py --binary $(TARGET)/quick/iruka -- \
		$(TARGET)/venv/bin/python tests/drivers/run.py {target}

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

fuzz:
	$(CARGO) xtask fuzz

clean:
	$(CARGO) clean
