# Sourced by the scripts here and in .ci: creates `.venv` in the checkout, and keeps it equal to the lock files.

top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$top/.venv
unfinished=$venv/labledger.unfinished

fail() {
    printf '%s: %s\n' "${0##*/}" "$1" >&2
    exit 1
}

# is_help ARGUMENT...: whether one of them asks for help.
is_help() {
    local argument
    for argument; do
        case $argument in -h | --help) return 0 ;; esac
    done
    return 1
}

# print_header: the comment at the head of the script that is run.
print_header() {
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
}

# take_no_arguments ARGUMENT...: prints the header and ends if there are any.
take_no_arguments() {
    if is_help "$@"; then print_header && exit; fi
    if [ $# -gt 0 ]; then print_header >&2 && exit 2; fi
}

# ensure_venv [EXTRA]: locks, because two installations at once would overwrite each other.
ensure_venv() {
    (
        if command -v flock >/dev/null 2>&1; then flock 9; fi
        is_installed "${1:-}" || install_into_venv "${1:-}"
    ) 9<"$top/script" || exit 1
}

stamp() {
    printf '%s/labledger%s.stamp\n' "$venv" "${1:+-$1}"
}

# The inputs of an installation. The path is one: the environment of a moved checkout has the old path in it.
wanted() {
    printf '%s\n' "$top"
    cat -- "$top/setup.cfg" "$top/pyproject.toml" "$top"/requirements*.lock
}

# An environment with the extra `test` also serves those that ask for no extra.
is_installed() {
    [ ! -e "$unfinished" ] && "$venv/bin/python" -c '' 2>/dev/null || return 1
    wanted | cmp -s - "$(stamp "$1")" || wanted | cmp -s - "$(stamp test)"
}

install_into_venv() {
    printf 'installing Labledger into %s: a minute or two, the first time\n' "$venv" >&2
    if ! is_sound; then make_venv; fi
    : >"$unfinished"
    # pip cannot install an editable folder and require hashes at once: dependencies first, then Labledger.
    pip_install --require-hashes --requirement "$top/requirements${1:+-$1}.lock"
    pip_install --no-deps --editable "$top"
    wanted >"$(stamp "$1")"
    rm -f -- "$unfinished"
}

pip_install() {
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2 ||
        fail "pip could not install Labledger; its message is above"
}

# An interrupted run may have left an incomplete package that pip takes for an installed one.
is_sound() {
    [ ! -e "$unfinished" ] && is_new_enough "$venv/bin/python" &&
        "$venv/bin/python" -m pip --version >/dev/null 2>&1
}

make_venv() {
    local python
    python=$(find_python) || exit 1
    "$python" -c 'import venv, ensurepip' 2>/dev/null ||
        fail "$python has no venv module: install it (on Debian and Ubuntu: apt install python3-venv)"
    "$python" -m venv --clear "$venv" >&2 || fail "could not create $venv"
}

find_python() {
    local candidate
    if [ -n "${LABLEDGER_PYTHON:-}" ]; then
        is_new_enough "$LABLEDGER_PYTHON" || fail "LABLEDGER_PYTHON=$LABLEDGER_PYTHON is not a Python >= 3.11"
        printf '%s\n' "$LABLEDGER_PYTHON"
        return
    fi
    for candidate in python3 python3.13 python3.12 python3.11; do
        if is_new_enough "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    fail "needs Python >= 3.11: install one, or name it by LABLEDGER_PYTHON"
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}
