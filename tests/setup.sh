#!/usr/bin/env bash
# What the tests need beside Python: two browsers, PostgreSQL, nginx. Installed from Debian's packages where they
# are missing and we may; else it is said, and the tests that need them are skipped (or fail, where CI is set).
set -euo pipefail

there() { command -v "$1" >/dev/null 2>&1; }

missing=""
there chromium || there chromium-browser || [ -n "${SIMILITUDE_CHROMIUM:-}" ] || missing="chromium"
there firefox-esr || there firefox || [ -n "${SIMILITUDE_FIREFOX:-}" ] || missing="$missing firefox-esr"
there initdb || compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || missing="$missing postgresql"
there nginx || [ -x /usr/sbin/nginx ] || missing="$missing nginx-light"
there openssl || missing="$missing openssl"
[ -n "$missing" ] || exit 0

as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo -n"
if there apt-get && $as_root true 2>/dev/null; then
    echo "installing for the tests: $missing"
    install="apt-get update -qq && apt-get install -qq -y --no-install-recommends $missing"
    if $as_root env DEBIAN_FRONTEND=noninteractive sh -c "$install" >/dev/null; then exit 0; fi
fi
echo "could not install what some tests need; to run them all, install by hand: $missing" >&2
