# Sourced by the findings: a temporary folder with an environment of Python, and the comparison.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# install PACKAGE==VERSION...: into the environment `$folder/python`.
install() {
    python3 -m venv python
    python/bin/python3 -m pip install --quiet --disable-pip-version-check "$@"
}

# expect WHAT FOUND PART: fails unless PART occurs in what was found.
expect() {
    printf '%s\n%s\n\n' "== $1" "$2"
    case $2 in
        *"$3"*) ;;
        *) printf 'changed: expected "%s"\n' "$3"; exit 1 ;;
    esac
}
