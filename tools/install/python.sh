#!/bin/sh
# Makes sure that Python can make an environment of its own, in which a test installs pytest and the fixture. Nothing else of Python is needed.
set -eu

has_python() {
  command -v python3 >/dev/null 2>&1 && python3 -c 'import ensurepip, venv' >/dev/null 2>&1
}

has_python && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing Python (apt-get) …" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2 || echo "apt-get update failed; trying with the lists that are there" >&2
  apt-get install -y -qq --no-install-recommends python3 python3-venv >&2 </dev/null
  has_python && exit 0
fi
cat >&2 <<'TEXT'
The tests need Python 3.10 or newer with venv, to try the fixture of pytest. Install it, for example
  Debian, Ubuntu:  sudo apt-get install python3 python3-venv
  macOS:           brew install python
TEXT
exit 1
