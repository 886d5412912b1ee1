"""Does every parameter of the optimizers get a gradient in every step of a program?

torch leaves the gradient of a parameter that the loss does not reach None, and passes it by;
MindSpore gives zeros. A program with one network all of whose layers are used, one backward pass
and nothing frozen has no such parameter, and its port needs nothing that looks for them.
"""

from __future__ import annotations

import ast
import sys
from functools import lru_cache

from migrate.flow.file_signs import Sign, facts_of
from migrate.flow.layer_attributes import parameter_attributes
from migrate.flow.trained_network import trains_one_network
from migrate.flow.whole_use import whole_outputs
from migrate.project import Project, ReadProblem, SourceFile, shared_tree
from migrate.syntax.ast_index import all_nodes, nodes_of

_SIGNS = Sign.SETS_REQUIRES_GRAD | Sign.ADDS_GROUPS | Sign.READS_GRADIENTS | Sign.SWITCHES_GRAD_MODE
# Libraries that build no networks.
_KNOWN = {"torch", "torchvision", "numpy", "PIL", "tqdm", "matplotlib", "yaml", "pandas", "scipy"}
_KNOWN |= {"sklearn", "cv2", "tensorboard", "tensorboardX", "wandb", "psutil"}
# In a program: what builds or changes networks, or differentiates, in ways that are not followed.
_OUTSIDE = frozenset(
    """
    setattr autograd hub models register_hook LBFGS Function functional_call swa_utils vmap
    register_full_backward_hook register_forward_hook register_forward_pre_hook deepcopy
    """.split()  # noqa: SIM905
)
# In the class of a network: what keeps, cuts off or passes by layers in such ways.
_INSIDE = frozenset(
    """
    setattr getattr add_module register_module register_parameter children named_children
    get_submodule _modules _parameters __getattr__ __setattr__ detach detach_ no_grad data grad
    inference_mode checkpoint MultiheadAttention AdaptiveLogSoftmaxWithLoss
    """.split()  # noqa: SIM905
)
_MODULES = ("nn.Module", "torch.nn.Module", "Module")


def reaches_all_parameters(project: Project) -> bool:
    """Whether each parameter of an optimizer has a gradient in every step. Unknown is no."""
    return _reaches(tuple(project.files))


@lru_cache(maxsize=4)
def _reaches(files: tuple[SourceFile, ...]) -> bool:
    try:
        trees = [shared_tree(file) for file in files]
    except ReadProblem:
        return False
    if any(facts_of(file).signs & _SIGNS for file in files):
        return False
    own = {part for file in files for part in file.module.split(".")}
    if not all(_is_closed(tree, own) for tree in trees):
        return False
    return trains_one_network(trees, own) and _uses_all_layers(trees)


def _is_closed(tree: ast.Module, own: set[str]) -> bool:
    """No networks from elsewhere, and nothing that changes some unseen."""
    for node in nodes_of(tree, ast.Import, ast.ImportFrom):
        relative = isinstance(node, ast.ImportFrom) and node.level > 0
        listed = [alias.name for alias in node.names]
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else listed
        roots = {module.partition(".")[0] for module in modules}
        if not relative and roots - _KNOWN - own - sys.stdlib_module_names:
            return False
        if roots == {"torchvision"} and any("models" in n.split(".") for n in (*modules, *listed)):
            return False
    words = {node.attr for node in nodes_of(tree, ast.Attribute)}
    words |= {node.id for node in nodes_of(tree, ast.Name)} - ({"models"} & own)
    return words.isdisjoint(_OUTSIDE)


def _uses_all_layers(trees: list[ast.Module]) -> bool:
    """Whether each class of networks gives what depends on all of its parameters."""
    classes = {cls.name: cls for tree in trees for cls in nodes_of(tree, ast.ClassDef)}
    networks = {name for name in classes if _is_network(name, classes)}
    for name in networks:
        cls = classes[name]
        methods = _methods(cls, classes)
        parts = [node for method in methods.values() for node in all_nodes(method)]
        words = {getattr(n, "attr", "") for n in parts} | {getattr(n, "id", "") for n in parts}
        if not words.isdisjoint(_INSIDE):
            return False
        members = parameter_attributes(methods)
        elsewhere = {
            word
            for other in networks - {name}
            for node in all_nodes(classes[other])
            if (word := getattr(node, "id", ""))
        }
        if not members and name not in elsewhere:
            continue  # a loss: a backward pass through none of its inputs would be an error
        if not whole_outputs(methods, members):
            return False
    return bool(networks) or not classes


def _is_network(name: str, classes: dict[str, ast.ClassDef]) -> bool:
    bases = [ast.unparse(base) for base in classes[name].bases]
    return any(
        base in _MODULES
        or ".nn." in f".{base}"
        or (base in classes and base != name and _is_network(base, classes))
        for base in bases
    )


def _methods(cls: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> dict[str, ast.FunctionDef]:
    """Those of a class and of the program's classes that it derives from."""
    found: dict[str, ast.FunctionDef] = {}
    for base in cls.bases:
        if isinstance(base, ast.Name) and base.id in classes and base.id != cls.name:
            found |= _methods(classes[base.id], classes)
    return found | {one.name: one for one in cls.body if isinstance(one, ast.FunctionDef)}
