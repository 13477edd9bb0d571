#!/usr/bin/env bash
# Installs what is needed for `install.sh build`, `install.sh test`, `install.sh drivers` or `install.sh tuningathon`. What is there already is
# left alone.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
for=${1:-test}

packages=()
want() { # command package...
  local command=$1; shift
  command -v "$command" >/dev/null 2>&1 || packages+=("$@")
}

want cc build-essential
if [ "$for" != build ]; then
  for client in mysql mysqladmin mysqldump mysqlshow mysqlslap; do want $client mariadb-client; done
  want sysbench sysbench
  want python3 python3
  want valgrind valgrind
  python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
fi
if [ "$for" = drivers ]; then
  want go golang-go
  want npm nodejs npm
  want mvn maven
  want javac default-jdk-headless
fi
if [ "$for" = drivers ] || [ "$for" = tuningathon ]; then
  want pkg-config pkg-config
  [ -e /usr/include/mariadb/mysql.h ] || packages+=(libmariadb-dev)
  python3 -c 'import os, sysconfig; assert os.path.exists(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null || packages+=(python3-dev)
fi
if [ ${#packages[@]} -gt 0 ]; then
  as_root=""; [ "$(id -u)" = 0 ] || as_root=sudo
  $as_root apt-get update -q
  # Since Debian 13 the names that begin with mysql are in a package of their own.
  if [[ " ${packages[*]} " = *" mariadb-client "* ]] && apt-cache show mariadb-client-compat >/dev/null 2>&1; then
    packages+=(mariadb-client-compat)
  fi
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends "${packages[@]}"
fi

[ "$for" = build ] && exit 0
requirements=tests/requirements.txt
[ "$for" = drivers ] && requirements=tests/drivers/requirements.txt
[ "$for" = tuningathon ] && requirements=benches/requirements.txt
stamp=$target/venv/.$(sha256sum "$requirements" | cut -c1-16)
if [ ! -e "$stamp" ]; then
  mkdir -p "$target"
  [ -x "$target/venv/bin/pip" ] || python3 -m venv "$target/venv"
  # Not by the program pip: that of a copied folder installs into the one it was copied from.
  "$target/venv/bin/python" -m pip install -q --disable-pip-version-check -r "$requirements"
  touch "$stamp"
fi
