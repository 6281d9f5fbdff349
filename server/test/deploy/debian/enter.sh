#!/bin/bash
# A bare Debian of its own: the tree $2 with what is written to it in memory ($1), gone at the end. $3 is the folder of the
# project, seen at its own place; the rest is executed in it.
set -e
memory=$1
tree=$2
project=$3
shift 3
mount --make-rprivate /
mkdir -p "$memory/upper" "$memory/work" "$memory/root"
mount -t overlay overlay -o "lowerdir=$tree,upperdir=$memory/upper,workdir=$memory/work" "$memory/root"
mount -t proc proc "$memory/root/proc"
mount --rbind /dev "$memory/root/dev"
mount -t tmpfs tmpfs "$memory/root/tmp"
mount -t tmpfs tmpfs "$memory/root/run"
chmod 1777 "$memory/root/tmp"
mkdir -p "$memory/root/run/lock" "$memory/root/$project"
mount --bind "$project" "$memory/root/$project"
mount -o remount,bind,ro "$memory/root/$project"
ip link set lo up 2>/dev/null || true
exec chroot "$memory/root" bash -c 'cd "$1" && shift && exec "$@"' bash "$project" "$@"
