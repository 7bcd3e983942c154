#!/usr/bin/env bash
# What the tests need beside Python: two browsers, PostgreSQL, nginx, R. Installed from Debian's packages where they
# are missing and we may; else it is said, and the tests that need them are skipped (or fail, where CI is set).
set -euo pipefail

there() { command -v "$1" >/dev/null 2>&1; }
chromium() { there chromium || there chromium-browser || there chromium-headless-shell || [ -n "${SIMILITUDE_CHROMIUM:-}" ]; }

missing=""
there firefox-esr || there firefox || [ -n "${SIMILITUDE_FIREFOX:-}" ] || missing="firefox-esr"
there initdb || compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || missing="$missing postgresql"
there nginx || [ -x /usr/sbin/nginx ] || missing="$missing nginx-light"
there openssl || missing="$missing openssl"
there Rscript || missing="$missing r-base-core r-cran-jsonlite r-cran-curl"
wanted="$missing"
chromium || missing="$missing chromium"
if there apt-cache && apt-cache show chromium-headless-shell >/dev/null 2>&1; then
    # all that the tests need of chromium, for less work
    there chromium-headless-shell || [ -n "${SIMILITUDE_CHROMIUM:-}" ] || wanted="$wanted chromium-headless-shell"
else
    wanted="$missing"
fi
[ -n "$wanted" ] || exit 0

as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo -n"
if there apt-get && $as_root true 2>/dev/null; then
    echo "installing for the tests: $wanted"
    install="apt-get update -qq && apt-get install -qq -y --no-install-recommends $wanted"
    if $as_root env DEBIAN_FRONTEND=noninteractive sh -c "$install" >/dev/null; then exit 0; fi
fi
[ -z "$missing" ] || echo "could not install what some tests need; to run them all, install by hand: $missing" >&2
