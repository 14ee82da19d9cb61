# lib.sh: sourced by the bash scripts in tools/.
#
# Servers and files are below one work directory, $work, which scripts always remove. As root they start servers as an
# ordinary user, because PostgreSQL refuses to run as root.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }
version_in() { sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" "$1"; }
is_released() { grep -qE "^## ${1//./\\.}(\.[0-9]+)? \([0-9]{4}-" "$root/CHANGELOG.md"; }

# Like $(MAKE): takes part in the parallelism of a calling make, or uses all processors.
run_make() {
    local jobs=(-j "$(nproc)")
    case " ${MAKEFLAGS:-} " in *' -j'* | *' --jobserver'*) jobs=() ;; esac
    make --no-print-directory -C "$root" "${jobs[@]}" "$@" || { give_back; return 1; }
    give_back
}

# give_back [PATH...]: gives what root built in another user's checkout, and these paths, back to the owner.
give_back() {
    local owner built
    owner=$(stat -c %u:%g "$root")
    if [ "$(id -u)" != 0 ] || [ "${owner%%:*}" = 0 ]; then return 0; fi
    for built in "$root/build" "$root"/*.so "$@"; do
        [ ! -e "$built" ] || chown -hR "$owner" "$built"
    done
}

pack_sources() { tar -C "$root" --exclude=./.git --exclude=./build --exclude='*.o' --exclude='*.so' -cf - .; }

perl_files() {
    (cd "$root" && { find test convert tools -name '*.p[lm]'; grep -lE '^#!/usr/bin/perl' tools/* test/*/* test/*/*/*; } 2>/dev/null | sort -u)
}

# build_private DIR [CXXFLAGS [LDFLAGS]]: builds DIR/src, which may exist already, into a server of its own, DIR/pg;
# DIR/pg_config names its pg_config.
build_private() {
    local dir=$1 pg_config
    [ -d "$dir/src" ] || { mkdir -p "$dir/src" && pack_sources | tar -C "$dir/src" -xf -; }
    pg_config=$("$root/tools/private-install" -n "$dir/pg")
    make --no-print-directory -s -j "$(nproc)" -C "$dir/src" PG_CONFIG="$pg_config" BUILD="$dir/build" EXTRA_CXXFLAGS="${2:-}" \
        EXTRA_LDFLAGS="${3:-}" all install >"$dir/build.log" 2>&1 || { tail -n 20 "$dir/build.log" >&2; return 1; }
    echo "$pg_config" >"$dir/pg_config"
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

# patiently COMMAND...: repeats it for up to ten minutes while another process has a lock of apt's.
# (DPkg::Lock::Timeout does not wait for the lists.)
patiently() {
    local said holder told='' until=$((SECONDS + 600))
    until said=$(export LC_ALL=C.UTF-8 && "$@" 2>&1); do
        holder=$(sed -n 's/^E: Could not get lock //p' <<<"$said")
        if [ -z "$holder" ] || [ $SECONDS -gt $until ]; then
            tail -n 40 <<<"$said" >&2
            return 1
        fi
        [ -n "$told" ] || say "waiting for apt's lock: $holder" >&2
        told=1
        sleep 1
    done
}

choose_user() {
    as_user=()
    user=$(id -un)
    if [ "$(id -u)" = 0 ]; then
        user=postgres
        id -u postgres >/dev/null 2>&1 || user=nobody
        as_user=(setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups env "HOME=$work" "USER=$user" "LOGNAME=$user")
    fi
}

# Short, because the path of a unix socket has at most 107 bytes.
make_work() {
    export LC_ALL=C.UTF-8 LANG=C.UTF-8  # the test modules take LC_ALL away
    work=$(mktemp -d /tmp/sfids.XXXXXX)
    trap remove_work EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    choose_user
    mkdir "$work/tmp"
    give_work
    # The caller's database settings must not reach the tests.
    unset PGHOST PGHOSTADDR PGPORT PGDATABASE PGUSER PGDATA PGOPTIONS PGSERVICE PGSERVICEFILE PGPASSFILE PGSSLMODE \
        PGTZ PGDATESTYLE PGCLIENTENCODING PGCONNECT_TIMEOUT PSQLRC
    export TMPDIR=$work/tmp
}

give_work() {
    [ ${#as_user[@]} = 0 ] || chown -R "$user:" "$work"
}

# Processes whose program or current directory is below $work.
processes_in_work() {
    local p
    for p in /proc/[0-9]*; do
        [ "${p#/proc/}" != $$ ] || continue
        case "$(readlink "$p/exe" 2>/dev/null) $(readlink "$p/cwd" 2>/dev/null)" in
            "$work"/* | *" $work" | *" $work"/*) echo "${p#/proc/}" ;;
        esac
    done
}

# Not kill -0, which sees zombies.
group_lives() {
    local line
    while read -r line; do
        set -- "$1" ${line##*) }
        [ "$2" = Z ] || [ "$4" != "$1" ] || return 0
    done < <(cat /proc/[0-9]*/stat 2>/dev/null)
    return 1
}

remove_work() {
    trap '' HUP INT TERM
    local pidfile pids i
    cd /
    if [ -n "$job" ]; then
        kill -TERM -- "-$job" 2>/dev/null || true
        for i in {1..200}; do
            group_lives "$job" || break
            sleep 0.1
        done
        kill -KILL -- "-$job" 2>/dev/null || true
    fi
    # At an immediate shutdown, postmasters remove their shared memory.
    find "$work" -name postmaster.pid 2>/dev/null | while read -r pidfile; do
        kill -QUIT "$(head -n 1 "$pidfile")" 2>/dev/null || true
    done
    for i in {1..100}; do
        pids=$(processes_in_work)
        [ -n "$pids" ] || break
        case $i in
            1) signal_all TERM $pids ;;
            50) signal_all KILL $pids ;;
        esac
        sleep 0.1
    done
    # A killed postmaster leaves its interlock segment behind; line 7 of the pid file has its id.
    find "$work" -name postmaster.pid 2>/dev/null | while read -r pidfile; do
        ipcrm -m "$(awk 'NR == 7 { print $2 }' "$pidfile")" 2>/dev/null || true
    done
    rm -rf "$work"
}

signal_all() {
    local signal=$1
    shift
    kill -"$signal" "$@" 2>/dev/null || true
}

# run COMMAND...: in the background and waited for, so signals are handled at once. Job control gives it a process
# group, and lets it receive Ctrl-C.
job=
run() {
    local rc=0
    set -m
    "$@" <&0 &
    job=$!
    set +m
    wait "$job" || rc=$?
    job=
    return $rc
}
run_as_user() { run "${as_user[@]}" "$@" </dev/null; }
