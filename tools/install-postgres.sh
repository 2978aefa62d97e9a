#!/bin/sh
# Makes sure that the programs of PostgreSQL and of what stands around it are there: the tests start private clusters with them. No
# server is needed.
set -eu

# Where the test harness looks too: Debian's folders, then the PATH. Its watchdog asks ps.
has_postgres() {
  command -v ps >/dev/null 2>&1 || return 1
  command -v initdb >/dev/null 2>&1 && command -v pg_ctl >/dev/null 2>&1 && return 0
  for bin in /usr/lib/postgresql/*/bin; do
    [ -x "$bin/initdb" ] && [ -x "$bin/pg_ctl" ] && return 0
  done
  return 1
}

# Without them the tests that need them fail; elsewhere than in CI that is no reason not to run the others.
has_others() {
  for program in pgbouncer patroni etcd haproxy; do
    command -v "$program" >/dev/null 2>&1 || return 1
  done
}

has_postgres && has_others && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing PostgreSQL (apt-get) …" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2 || echo "apt-get update failed; trying with the lists that are there" >&2
  apt-get install -y -qq --no-install-recommends postgresql pgbouncer patroni python3-etcd etcd-server haproxy procps >&2 </dev/null
fi
has_postgres && { has_others || [ -z "${CI:-}" ]; } && exit 0
cat >&2 <<'TEXT'
The tests need the programs of PostgreSQL 15 or newer (initdb, pg_ctl), to start a private cluster, and ps, and for a few tests pgbouncer, Patroni, etcd and HAProxy;
they were looked for in /usr/lib/postgresql and on the PATH. Install them, for example
  Debian, Ubuntu:  sudo apt-get install postgresql pgbouncer patroni etcd-server haproxy procps
  macOS:           brew install postgresql@15 pgbouncer etcd haproxy, pip install patroni[etcd3], and put their folders on the PATH
No running server and no set-up is needed.
TEXT
exit 1
