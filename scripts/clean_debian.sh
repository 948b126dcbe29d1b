# SPDX-License-Identifier: BSD-3-Clause
# Sourced by deb.sh and release.sh: a Debian in memory that has its base and nothing else, for what runs in a mount namespace of its own; it is gone with that.
# It is made once by debootstrap, and kept in ~/.cache/quire.
#   can_make_debian    root, and debootstrap
#   make_debian LOG    makes it in the folder $root; exit status 77 if nothing can be fetched
#   inside COMMANDS    bash runs them there
cache=${XDG_CACHE_HOME:-$HOME/.cache}/quire
suite=bookworm

can_make_debian() { [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null; }

make_debian() {
  local base=$cache/debian-$suite.tar made
  mkdir -p "$cache"
  if [ ! -s "$base" ]; then
    made=$(mktemp -d)
    if ! debootstrap --variant=minbase "$suite" "$made/root" >"$1" 2>&1; then
      tail -3 "$1"
      rm -rf "$made"
      echo "no Debian can be made here" >&2
      exit 77
    fi
    tar -C "$made/root" -cf "$base.part" .
    mv "$base.part" "$base"
    rm -rf "$made"
  fi
  root=$(mktemp -d)
  trap 'umount -R "$root" 2>/dev/null; rmdir "$root"' EXIT
  mount -t tmpfs -o size=4G,mode=755 tmpfs "$root"
  tar -C "$root" -xf "$base"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  mount --rbind /sys "$root/sys"
}

inside() { LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" /bin/bash -euo pipefail -c "$1"; }
