#!/usr/bin/env bash
# Set up, then check everything; --slow adds the tests that take minutes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bash "$here/setup.sh"
exec bash "$here/check.sh" "$@"
