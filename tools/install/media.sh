#!/bin/sh
# Makes sure that the tests of live video have an encoder (ffmpeg) and a player (Chromium). The program itself needs neither.
set -eu

has_media() {
  command -v ffmpeg >/dev/null 2>&1 && command -v ffprobe >/dev/null 2>&1 || return 1
  command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1
}

has_media && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing ffmpeg and Chromium (apt-get) …" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2 || echo "apt-get update failed; trying with the lists that are there" >&2
  apt-get install -y -qq --no-install-recommends ffmpeg chromium >&2 </dev/null
  has_media && exit 0
fi
cat >&2 <<'TEXT'
The tests of live video need ffmpeg (with ffprobe and libx264) and Chromium or Chrome on the PATH. Install them, for example
  Debian, Ubuntu:  sudo apt-get install ffmpeg chromium
  macOS:           brew install ffmpeg, and put a link named chromium to the browser on the PATH
TEXT
exit 1
