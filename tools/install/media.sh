#!/bin/sh
# Makes sure that the tests of live video have an encoder (ffmpeg) and a player (Chromium). The program itself needs neither. nginx's RTMP
# module, a media server of somebody else's, is installed where it can be: tests that start it are left out without it.
set -eu

has_media() {
  command -v ffmpeg >/dev/null 2>&1 && command -v ffprobe >/dev/null 2>&1 || return 1
  command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1
}

has_module() {
  [ -e /usr/lib/nginx/modules/ngx_rtmp_module.so ]
}

has_media && has_module && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing ffmpeg, Chromium and nginx's RTMP module (apt-get) …" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get -o Acquire::http::Timeout=15 update -qq >&2 || echo "apt-get update failed; trying with the lists that are there" >&2
  has_media || apt-get install -y -qq --no-install-recommends ffmpeg chromium >&2 </dev/null
  has_media && has_module && exit 0
  # Installed, a package starts its service; 101 forbids it.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
  fi
  apt-get install -y -qq --no-install-recommends nginx libnginx-mod-rtmp >&2 </dev/null || true
fi
has_media && exit 0
cat >&2 <<'TEXT'
The tests of live video need ffmpeg (with ffprobe and libx264) and Chromium or Chrome on the PATH. Install them, for example
  Debian, Ubuntu:  sudo apt-get install ffmpeg chromium
  macOS:           brew install ffmpeg, and put a link named chromium to the browser on the PATH
TEXT
exit 1
