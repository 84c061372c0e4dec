# machine.sh -- what ./run and ./check share: packages, quiet steps with a log. Sourced by bash.
# shellcheck shell=bash

# Debian bookworm and trixie and Ubuntu 22.04 and later use the same names.
BUILD_PACKAGES=(gcc libc6-dev cmake ninja-build pkg-config libopenblas-openmp-dev libsleef-dev
                libjansson-dev zlib1g-dev libpopt-dev libxxhash-dev librandom123-dev)
CHECK_PACKAGES=(clang libomp-dev libblas-dev liblapack-dev libcmocka-dev valgrind python3
                python3-numpy python3-sklearn python3-pandas libsvm-tools liblinear-tools mandoc
                r-cran-glmnet qemu-user gcc-aarch64-linux-gnu git)
# What the tool and its tests link, for a build that ./check runs by qemu.
ARM64_PACKAGES=(libc6-dev libopenblas-openmp-dev libsleef-dev libjansson-dev zlib1g-dev libpopt-dev
                libxxhash-dev librandom123-dev libcmocka-dev)

say() { printf '%s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

package_installed() {
    dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -q '^installed$'
}

missing_packages() {
    local name
    for name in "$@"; do package_installed "$name" || printf '%s ' "$name"; done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# install_packages yes|no LOG PACKAGE... -- names what is missing and installs it, if it may.
install_packages() {
    local may=$1 log=$2 missing
    shift 2
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        say "This machine has no apt-get. Needed, by their Debian names:" "$*"
        say "Going on with what is there."
        return
    fi
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    if [ "$may" = no ]; then
        say "Missing, and not installed because of --no-install:" "$missing"
        say "Going on with what is there."
        return
    fi
    say "Installing with apt-get: $missing"
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        fail "Neither root nor sudo: run as root  apt-get install $missing"
    fi
    # shellcheck disable=SC2086
    if ! { as_root apt-get update &&
           as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y \
               --no-install-recommends $missing; } >>"$log" 2>&1 </dev/null; then
        tail -n 30 "$log" >&2
        fail "apt-get could not install the packages; its output is in $log"
    fi
}

# quietly LOG COMMAND... -- the output goes to LOG and is shown only when the command fails.
quietly() {
    local log=$1
    shift
    "$@" >>"$log" 2>&1 </dev/null || {
        # from the first failed step of ninja on, if it was ninja
        { grep -q '^FAILED' "$log" && sed -n '/^FAILED/,$p' "$log" || tail "$log"; } | head -n 40 >&2
        fail "failed: $* (everything it said is in $log)"
    }
}
