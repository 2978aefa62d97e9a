#!/bin/sh
# Makes sure that Python is there with pip and can make an environment of its own: tests drive client libraries for Python, and the
# fixture of pytest. The program itself needs none of it.
set -eu

has_python() {
  command -v python3 >/dev/null 2>&1 && python3 -m pip --version >/dev/null 2>&1 && python3 -c 'import ensurepip, venv' >/dev/null 2>&1
}

has_python && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing Python (apt-get) …" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2 || echo "apt-get update failed; trying with the lists that are there" >&2
  apt-get install -y -qq --no-install-recommends python3 python3-pip python3-venv >&2 </dev/null
  has_python && exit 0
fi
cat >&2 <<'TEXT'
The tests of client libraries need Python 3.10 or newer with pip and venv. Install them, for example
  Debian, Ubuntu:  sudo apt-get install python3 python3-pip python3-venv
  macOS:           brew install python
TEXT
exit 1
