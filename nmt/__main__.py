"""`python -m nmt` (and `torchrun -m nmt`) is the `nmt` command."""

from nmt.cli import main

main()
