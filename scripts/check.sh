#!/usr/bin/env bash
# Format, lint, types, tests: what has to hold before a change goes in. --slow adds the tests that take minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
    "") tests="not slow" ;;
    --slow) tests="slow or not slow" ;;
    *) echo "usage: bash $0 [--slow]" >&2 && exit 2 ;;
esac

if [[ -d .venv/bin ]]; then
    PATH="$PWD/.venv/bin:$PATH"
fi
ruff format --check .
ruff check .
mypy --strict nmt scripts configs/pretrained tests/typed_use.py
pytest -m "$tests" --numprocesses auto --maxprocesses 4 --dist worksteal
