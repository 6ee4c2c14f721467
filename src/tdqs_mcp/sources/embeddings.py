"""Static embeddings from a folder, where the optional package that reads them is installed."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tdqs_mcp.errors import InputError

if TYPE_CHECKING:
    from numpy import ndarray


def read_embeddings(folder: Path) -> "Callable[[Sequence[str]], ndarray[Any, Any]]":
    """What turns texts into vectors of length 1, by the model2vec model in a folder; nothing is downloaded.

    Raises InputError without that package and for a folder without such a model.
    """
    try:
        from model2vec import StaticModel  # noqa: PLC0415  # an extra that most installations go without
    except ImportError as error:
        raise InputError("embeddings need a package more: pip install 'tdqs-mcp[embeddings]'") from error
    if not (folder / "config.json").is_file():
        raise InputError(f"{str(folder)!r} holds no model2vec model: it has no config.json")
    try:
        model = StaticModel.from_pretrained(folder, normalize=True, force_download=False)
    except Exception as error:  # the package and those that it builds on raise whatever a broken file leads them to
        raise InputError(f"{str(folder)!r} holds no model2vec model that can be read: {error}") from error
    return lambda texts: model.encode(texts, use_multiprocessing=False)
