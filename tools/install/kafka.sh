#!/bin/sh
# Makes sure that the Kafka of kafka.xml is there, in a folder of its own: tests of the firehose start it. kafka.txt has the hash of each of its files.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$here/../../.tools/kafka
wanted=$here/kafka.txt

cmp -s "$wanted" "$folder/installed.txt" && exit 0
echo "Installing Kafka (mvn) …" >&2
rm -rf "$folder"
mkdir -p "$folder"
mvn --quiet --batch-mode --file "$here/kafka.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$folder/lib" >&2
# No other file may be in the folder, because a broker loads all of them.
(cd "$folder/lib" && sha256sum --quiet --check "$wanted" && [ "$(ls | wc -l)" = "$(wc -l <"$wanted")" ]) >&2
cp "$wanted" "$folder/installed.txt"
