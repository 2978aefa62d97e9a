#!/bin/sh
# Makes sure that the tools of openapi-tools.txt are there, in a folder of their own: proofs read the OpenAPI documents with them.
# One of them brings a Java.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$here/../../.tools/openapi
wanted=$here/openapi-tools.txt

cmp -s "$wanted" "$folder/installed.txt" && exit 0
echo "Installing Schemathesis and generators (pip) …" >&2
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted" >&2
cp "$wanted" "$folder/installed.txt"
