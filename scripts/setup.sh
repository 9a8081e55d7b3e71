#!/usr/bin/env bash
# Make .venv with nmt and the versions of its dependencies that constraints.txt names. What is done already takes no
# time. demo.sh and test.sh call it; $PYTHON names the Python to use where several are installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

find_python() {
    local name
    for name in ${PYTHON:-python3.13 python3.12 python3.11 python3 python}; do
        if "$name" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
    echo "setup: no Python of 3.11 or later with venv found${PYTHON:+ (PYTHON=$PYTHON)};" \
        "install one (on Debian: apt install python3-venv), or name one: PYTHON=/path/to/python3 bash $0" >&2
    return 1
}

if ! .venv/bin/python -c '' 2>/dev/null; then
    python=$(find_python)
    "$python" -m venv --clear .venv
fi

# The folder is part of it, since neither a virtual environment nor an editable installation can be moved.
wanted=$({ pwd && cat pyproject.toml constraints.txt; } | cksum)
if [[ "$(cat .venv/installed 2>/dev/null)" != "$wanted" ]]; then
    echo "setup: installing into .venv (the first time this takes minutes: PyTorch is large)" >&2
    if ! .venv/bin/python -m pip install --no-input --constraint constraints.txt --editable '.[dev]' >.venv/install.log 2>&1; then
        tail -n 20 .venv/install.log >&2
        echo "setup: installing failed; all of pip's messages are in .venv/install.log" >&2
        exit 1
    fi
    echo "$wanted" >.venv/installed
fi
