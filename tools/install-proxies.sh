#!/bin/sh
# Makes sure that nginx and HAProxy are there: tests start them in front of Plaza, with files and ports of their own. No service is needed.
set -eu

PATH="$PATH:/usr/sbin:/usr/local/sbin"

has_proxies() {
  command -v nginx >/dev/null 2>&1 && command -v haproxy >/dev/null 2>&1
}

has_proxies && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing nginx and HAProxy (apt-get) …" >&2
  export DEBIAN_FRONTEND=noninteractive
  # Installed, a package starts its service; 101 forbids it.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
  fi
  apt-get update -qq >&2 || echo "apt-get update failed; trying with the lists that are there" >&2
  apt-get install -y -qq --no-install-recommends nginx haproxy >&2 </dev/null
  has_proxies && exit 0
fi
cat >&2 <<'TEXT'
The tests need nginx and HAProxy, to start them in front of Plaza. Install them, for example
  Debian, Ubuntu:  sudo apt-get install nginx haproxy
  macOS:           brew install nginx haproxy
No running server and no set-up is needed.
TEXT
exit 1
