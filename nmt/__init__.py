"""English→Chinese machine translation for the command line: prepare, build-vocab, train, translate, evaluate."""

__version__ = "0.1.0"
