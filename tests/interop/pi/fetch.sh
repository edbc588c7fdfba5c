#!/bin/sh
# fetch.sh [DIR]: Node 22 and Pi 1.6 from npm, as these tests look for them.
set -eu
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/agentsh-interop/pi}
mkdir -p "$dir"
cd "$dir"
[ -f package.json ] || echo '{"private":true}' > package.json
npm install --no-audit --no-fund --loglevel=error node@22 @earendil-works/pi-coding-agent@1.6.0
node_modules/.bin/node --version
