#!/bin/sh
# Makes sure that Python is there with pip: tests drive a client library for Python. The program itself needs neither.
set -eu

has_python() {
  command -v python3 >/dev/null 2>&1 && python3 -m pip --version >/dev/null 2>&1
}

has_python && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing Python (apt-get) …" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2 || echo "apt-get update failed; trying with the lists that are there" >&2
  apt-get install -y -qq --no-install-recommends python3 python3-pip >&2 </dev/null
  has_python && exit 0
fi
cat >&2 <<'TEXT'
The tests of client libraries need Python 3 with pip. Install them, for example
  Debian, Ubuntu:  sudo apt-get install python3 python3-pip
  macOS:           brew install python
TEXT
exit 1
