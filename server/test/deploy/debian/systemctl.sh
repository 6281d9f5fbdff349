#!/bin/bash
# Stands in for systemd where nothing runs as process 1: starts, restarts and stops what the unit of docs/install.md says, with
# its variables, its command, its times and an account without rights. Sandboxing of the unit is not played.
verb=$1
shift
[ "$1" = --now ] && shift
unit=/etc/systemd/system/carillon@.service
said() { sed -n "s/^$1=//p" "$unit"; }
# One that has ended and that nobody waits for is still there.
runs() { [ -e "/proc/$1/status" ] && ! grep -q '^State:.*Z' "/proc/$1/status"; }

watch() {
  name=$1 command=$(said ExecStart) code=
  set -a
  while IFS= read -r line; do
    line=${line//%i/$name}
    case $line in
    EnvironmentFile=*) . "${line#EnvironmentFile=}" ;;
    Environment=*) eval "${line#Environment=}" ;;
    esac
  done <"$unit"
  set +a
  cd /
  while :; do
    # shellcheck disable=SC2086
    setsid setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs $command &
    echo $! >"/run/carillon-$name.pid"
    wait $!
    code=$?
    [ -e "/run/carillon-$name.stops" ] || [ $code = 0 ] && return
    [[ " $(said RestartPreventExitStatus) " == *" $code "* ]] && return
    echo "started again after code $code" >>"/var/log/carillon-$name.restarts"
    sleep "$(said RestartSec)"
    [ -e "/run/carillon-$name.stops" ] && return
  done
}
start() {
  install -d -m 700 -o 10001 -g 10001 "/var/lib/carillon-$1"
  rm -f "/run/carillon-$1.stops"
  watch "$1" >>"/var/log/carillon-$1.log" 2>&1 </dev/null &
  echo $! >"/run/carillon-$1.watch"
}
stop() {
  [ -e "/run/carillon-$1.watch" ] || return 0
  touch "/run/carillon-$1.stops"
  process=$(cat "/run/carillon-$1.pid") watcher=$(cat "/run/carillon-$1.watch")
  kill -TERM "$process" 2>/dev/null
  end=$((SECONDS + $(said TimeoutStopSec)))
  while runs "$watcher"; do
    if ((SECONDS > end)); then
      kill -KILL "$process" 2>/dev/null
      echo "killed, since it did not stop in time" >>"/var/log/carillon-$1.restarts"
      end=$((SECONDS + 3600))
    fi
    sleep 0.1
  done
  rm -f "/run/carillon-$1".{watch,pid,stops}
}
if [ "$verb" = stop ] || [ "$verb" = restart ]; then
  stopping=
  for name in "${@#carillon@}"; do stop "$name" & stopping="$stopping $!"; done
  # shellcheck disable=SC2086
  wait $stopping
fi
if [ "$verb" != stop ] && [ "$verb" != daemon-reload ]; then
  for name in "${@#carillon@}"; do start "$name"; done
fi
