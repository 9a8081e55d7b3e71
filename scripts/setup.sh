#!/usr/bin/env bash
# Make .venv with nmt and the versions of its dependencies that constraints.txt names. What is done already takes no
# time. demo.sh and test.sh call it. $PYTHON names the Python to use where several are installed; TORCH=cpu or
# TORCH=default chooses the build of PyTorch, which is otherwise chosen by whether there is an NVIDIA driver.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

TORCH=${TORCH:-auto}
if [[ ! "$TORCH" =~ ^(auto|cpu|default)$ ]]; then
    echo "setup: TORCH=$TORCH is not known; use cpu, default or auto" >&2
    exit 2
fi
CPU_WHEELS=https://download.pytorch.org/whl/cpu

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

# PyPI's wheel for Linux brings gigabytes of CUDA libraries, which are of no use without an NVIDIA driver.
wants_cpu_wheel() {
    case "$TORCH" in
        cpu) return 0 ;;
        default) return 1 ;;
        auto) [[ "$(uname -s)" == Linux && ! -e /proc/driver/nvidia/version && ! -e /dev/dxg ]] ;;
    esac
}

pip_install() {
    .venv/bin/python -m pip install --no-input --constraint constraints.txt "$@" >>.venv/install.log 2>&1
}

install_cpu_torch() {
    echo "setup: no NVIDIA driver: PyTorch's CPU build (TORCH=default installs the CUDA build)" >&2
    # Only the wheel itself: what it depends on comes from the default index with everything else.
    if ! pip_install --retries 1 --timeout 20 --no-deps --index-url "$CPU_WHEELS" torch; then
        echo "setup: $CPU_WHEELS cannot be used (see .venv/install.log); taking PyTorch from the default index" >&2
    fi
}

if ! .venv/bin/python -c '' 2>/dev/null; then
    python=$(find_python)
    "$python" -m venv --clear .venv
fi

# The folder is part of it, since neither a virtual environment nor an editable installation can be moved.
wanted=$({ pwd && echo "$TORCH" && cat pyproject.toml constraints.txt; } | cksum)
if [[ "$(cat .venv/installed 2>/dev/null)" != "$wanted" ]]; then
    echo "setup: installing into .venv (the first time this takes minutes: PyTorch is large)" >&2
    : >.venv/install.log
    if wants_cpu_wheel; then
        install_cpu_torch
    fi
    if ! pip_install --editable '.[dev]'; then
        tail -n 20 .venv/install.log >&2
        echo "setup: installing failed; all of pip's messages are in .venv/install.log" >&2
        exit 1
    fi
    echo "$wanted" >.venv/installed
fi
