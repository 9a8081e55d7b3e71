"""Rules that the whole package keeps."""

import ast
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "nmt"
FILES = sorted(PACKAGE.rglob("*.py"))

# From the bottom up; a module imports only from its own layer and the layers below it.
LAYERS = (
    {"errors"},
    {"files", "archives", "machine"},
    {"config"},
    {"text"},
    {"numbers"},
    {"spans"},
    {"chinese"},
    {"checks"},
    {"run"},
    {"corpus", "model"},
    {"search", "evaluation", "exchange", "documents"},
    {"terms"},
    {"neighbours"},
    {"engines"},
    {"scoring"},
    {"translate"},
    {"train"},
    {"jobs", "report", "serving"},
    {"api", "commands"},
    {"cli"},
    {"__main__"},
)


@cache
def nodes(file: Path) -> list[ast.AST]:
    """The syntax of a file, every node of it."""
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def layer(module: str) -> int:
    return next(depth for depth, names in enumerate(LAYERS) if module.split(".")[1] in names)


def module_name(file: Path) -> str:
    return ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )


def imported(file: Path) -> set[str]:
    names = set()
    for node in nodes(file):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "nmt":
            inner = (PACKAGE.parent / Path(*node.module.split("."))).is_dir()
            names |= (
                {f"{node.module}.{alias.name}" for alias in node.names} if inner else {node.module}
            )
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.split(".")[0] == "nmt"}
    return {name for name in names if name not in ("nmt", "nmt.__version__")}


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_imports_go_only_downward(file: Path) -> None:
    if module_name(file).count(".") and file.name != "__init__.py":
        upward = {name for name in imported(file) if layer(name) > layer(module_name(file))}
        assert not upward


def test_no_imports_go_in_a_circle() -> None:
    """Nor those for types alone, or inside a function."""
    graph = {module_name(file): imported(file) for file in FILES}
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_evaluation_knows_no_model_and_search_sees_it_only_as_a_stepper() -> None:
    for room, foreign in (("evaluation", ("model", "corpus")), ("search", ("model", "corpus"))):
        for file in (PACKAGE / room).glob("*.py"):
            assert not {name for name in imported(file) if name.split(".")[1] in foreign}


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_files_and_functions_stay_readable(file: Path) -> None:
    assert file.read_text(encoding="utf-8").count("\n") <= 400
    for node in nodes(file):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            # A command has a line for each of its options, which is no logic.
            assert node.end_lineno - node.body[0].lineno + 1 <= 50, node.name


@pytest.mark.parametrize("file", sorted(PACKAGE.glob("*/**/__init__.py")), ids=module_name)
def test_only_nmt_itself_re_exports(file: Path) -> None:
    assert not imported(file)


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_nothing_executes_code_from_data(file: Path) -> None:
    for node in nodes(file):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            assert name not in ("eval", "exec", "compile", "__import__", "os.system"), name
            assert name.split(".")[0] not in ("pickle", "marshal", "subprocess"), name
            options = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            assert name != "torch.load" or options.get("weights_only") == "True"
            assert name not in ("np.load", "numpy.load") or options.get("allow_pickle") == "False"


def prints(file: Path) -> bool:
    """Whether a file speaks to people or pipes: the commands, and the log of a training."""
    return "commands" in file.parts or file.name in ("cli.py", "log.py")


@pytest.mark.parametrize("file", [f for f in FILES if not prints(f)], ids=module_name)
def test_only_the_command_line_prints(file: Path) -> None:
    for node in nodes(file):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in ("print", "input", "sys.exit", "exit")
        if isinstance(node, ast.Attribute):
            assert ast.unparse(node) not in ("sys.stdout", "sys.stdin")


WITHOUT_TORCH = [
    "nmt",
    "nmt.api",
    "nmt.cli",
    "nmt.corpus.stages",
    "nmt.evaluation.metrics",
    "nmt.evaluation.significance",
    "nmt.evaluation.evaluate",
    "nmt.evaluation.gate",
    "nmt.evaluation.history",
    "nmt.report.machine",
    "nmt.report.run.facts",
    "nmt.report.figures",
]


def test_torch_is_not_loaded_by_what_does_not_compute() -> None:
    """One after another in one process: the first that loads it is named."""
    code = (
        f"import importlib, sys\nfor name in {WITHOUT_TORCH}:\n"
        "    importlib.import_module(name)\n"
        "    if 'torch' in sys.modules:\n        sys.exit(name)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_loading_a_model_does_not_load_the_compiler_of_torch() -> None:
    """It takes longer than all the rest of the start."""
    kept = sorted((Path(__file__).parent / "compatibility").iterdir())[-1] / "run"
    code = (
        "import sys; from pathlib import Path; from nmt.commands.shell.trained_run import find_run; "
        "from nmt.translate.opening import load_translator; "
        f"load_translator(*find_run(Path({str(kept)!r}), None, [])).translate(['a']); "
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_test_files_have_names_of_their_own() -> None:
    """They are no packages, so pytest can load only one file of a name in a process."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("*.py"))
    assert [name for name, count in names.items() if count > 1] == []
