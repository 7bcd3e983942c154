#!/usr/bin/env bash
# What the tests need beside Python: a browser and PostgreSQL's programs. Installed from Debian's packages where they
# are missing and we may; else it is said, and the tests that need them are skipped (or fail, where CI is set).
set -euo pipefail

missing=()
command -v chromium chromium-browser >/dev/null 2>&1 || [ -n "${SIMILITUDE_CHROMIUM:-}" ] || missing+=(chromium)
command -v initdb >/dev/null 2>&1 || compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || missing+=(postgresql)
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo -n); fi
if command -v apt-get >/dev/null 2>&1 && "${as_root[@]}" true 2>/dev/null; then
    echo "installing ${missing[*]} for the tests"
    if "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c \
        "apt-get update -qq && apt-get install -qq -y --no-install-recommends ${missing[*]}" >/dev/null; then
        exit 0
    fi
fi
echo "could not install ${missing[*]}: install them by hand (apt-get install ${missing[*]}) to run all tests" >&2
