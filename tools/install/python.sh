#!/bin/sh
# Makes sure that the Python tools of python.txt are there, in a folder of their own: proofs read the OpenAPI documents with them.
# One of them brings a Java.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$here/../../.tools/python
wanted=$here/python.txt

cmp -s "$wanted" "$folder/installed.txt" && exit 0
if ! command -v python3 >/dev/null 2>&1 || ! python3 -c 'import venv, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  cat >&2 <<'TEXT'
The proofs need Python 3.10 or newer with its module venv. Install it, for example
  Debian, Ubuntu:  sudo apt-get install python3 python3-venv
  macOS:           brew install python
TEXT
  exit 1
fi
echo "Installing Schemathesis and generators (pip) …" >&2
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted" >&2
cp "$wanted" "$folder/installed.txt"
