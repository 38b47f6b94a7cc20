"""Words by which code may look at names, sources or lines that it does not mention."""

from __future__ import annotations

import sys
from collections.abc import Collection, Set
from functools import lru_cache
from importlib.util import find_spec

_LOOKING = """
    * attrgetter breakpoint co_firstlineno co_lines co_linetable co_lnotab co_positions compile currentframe delattr
    dir eval exec extract_stack f_back f_globals f_lineno f_locals format_exc format_tb ForwardRef get_type_hints
    getrefcount getsizeof glob globals help import_module iterdir lineno listdir locals methodcaller modules open
    print_exc read_bytes read_text rglob scandir setattr setprofile settrace stack_info stacklevel tb_frame tb_lineno
    vars walk with_traceback

    _convert _convert_ _current_exceptions _current_frames _eval_type _evaluate _getframe addaudithook ag_code ag_frame
    cr_code cr_frame cr_origin gi_code gi_frame tb_lasti tb_next

    _get_context _new_context _setprofileallthreads _settraceallthreads _warnings_context capture_call_graph
    evaluate_forward_ref f_generator format_call_graph get_all_awaited_by monitoring print_call_graph remote_exec
    setprofile_all_threads settrace_all_threads

    excepthook exc_info formatException formatStack formatwarning get_stack print_stack redirect_stderr showwarning
    unraisablehook

    addFilter callHandlers dup dup2 findCaller lastResort LogRecord makeRecord set_exception_handler setLoggerClass
    setLogRecordFactory StrFormatStyle WarningMessage _formatwarnmsg _formatwarnmsg_impl _showwarnmsg _showwarnmsg_impl

    build_opener BZ2File ElementInclude FancyURLopener FileIO FileType fromfile_prefix_chars getctime getmtime
    getsize GzipFile knownfiles LZMAFile MimeTypes open_code OpenerDirector read_mime_types robotparser
    st_ctime st_ctime_ns st_mtime st_mtime_ns st_size statx urlopen urlretrieve URLopener

    BaseConfigurator DictConfigurator dictConfig dom fileConfig getDOMImplementation make_parser sax

    exec_module find_spec importlib inspect linecache load_module meta_path path_hooks path_importer_cache pickle
    pkgutil runpy traceback unittest
"""
"""Words for: names, frames, what shows lines, what shows files, what takes names as texts, and modules for all that."""

# Names with two underscores by which Python reaches what is mentioned anyway, or that say nothing of other names.
_HARMLESS = """
    abs add aenter aexit aiter all and anext await bool bytes call ceil code complex contains defaults del delitem
    divmod doc enter eq exit float floor floordiv format future ge getitem gt hash iadd iand ifloordiv ilshift imod
    imul index init int invert ior ipow irshift isub iter itruediv ixor kwdefaults le len lshift lt main matmul
    missing mod mul name ne neg new next or pos post_init pow qualname radd rand repr reversed rfloordiv rlshift
    rmod rmul ror round rpow rrshift rshift rsub rtruediv rxor setitem str sub truediv trunc version xor
"""

# Of what Python brings, these look at no module's names by themselves.
_SIMPLE = """
    __future__ abc argparse array asyncio base64 binascii bisect bz2 calendar cmath codecs collections colorsys
    contextlib contextvars copy csv dataclasses datetime decimal difflib enum errno fnmatch fractions functools getopt
    graphlib gzip hashlib heapq hmac html io ipaddress itertools json keyword locale logging lzma math mimetypes numbers
    operator os pathlib platform posixpath pprint queue random re reprlib secrets shlex sqlite3 stat statistics string
    stringprep struct sys tempfile textwrap threading time tomllib types typing unicodedata urllib uuid warnings weakref
    xml zlib zoneinfo
"""

_LOOKING_WORDS = frozenset(_LOOKING.split())
ASKING = frozenset(("getattr", "hasattr"))
"""Functions that look at one name, which a text tells."""

FORMATTING = frozenset(("format", "format_map", "get_field", "vformat"))
"""Methods of texts that look at names which the text tells."""
ABOUT_NAMES = frozenset(("__code__", "__defaults__", "__doc__", "__kwdefaults__", "__name__", "__qualname__"))
"""What tells something about a function or a module without using it as a whole."""
OF_CODE = frozenset(("co_argcount", "co_flags", "co_kwonlyargcount", "co_name", "co_names", "co_varnames"))
"""What code tells that shows no lines."""

# The texts of code and of warnings, and those that are logged with an exception, show lines; so does what is printed
# there of a thread. A lexer may open files, and what is known of a file is a row of numbers too.
_LOOKING_AS_A_WHOLE = ASKING | {"__code__", "exception", "fstat", "logging", "lstat", "shlex", "stat", "stderr"}

_HANDLING = """
    BaseRotatingHandler BufferingFormatter BufferingHandler DatagramHandler FileHandler Formatter Handler handlers
    HTTPHandler MemoryHandler QueueHandler RotatingFileHandler SMTPHandler SocketHandler StreamHandler SysLogHandler
    TimedRotatingFileHandler WatchedFileHandler
"""
NAMED_BESIDE = frozenset(("logging", "warnings"))
"""Modules of which some words say that code shows lines; they are looked for beside the name of the module."""
# Whoever gets what is logged or warned of sees lines; what is logged to may be a file that is read. What a text means
# for its owner is looked for among all names of that one's module.
_LOOKING_BESIDE = {
    "basicConfig": frozenset(("filemode", "handlers", "stream")),
    "catch_warnings": frozenset(("record",)),
    "evaluate": frozenset(("owner",)),
    "logging": frozenset(_HANDLING.split()),
    "warnings": frozenset(("filters",)),
}
_HARMLESS_WORDS = frozenset(f"__{word}__" for word in _HARMLESS.split())
_SIMPLE_MODULES = frozenset(_SIMPLE.split())


def looks(words: Set[str]) -> bool:
    """Return whether code with these words may look at names that are not among them."""
    if not words.isdisjoint(_LOOKING_WORDS):
        return True
    if any(word in words and not others.isdisjoint(words) for word, others in _LOOKING_BESIDE.items()):
        return True
    if "addHandler" in words and "NullHandler" not in words:
        return True
    return any(word.startswith("__") and word not in _HARMLESS_WORDS for word in words)


def looks_as_a_whole(words: Set[str]) -> bool:
    """Return the same of words for what is used as a whole: not only to reach something, or to ask for a constant."""
    return not words.isdisjoint(_LOOKING_AS_A_WHOLE)


def all_simple(modules: frozenset[str], own: frozenset[str], paths: Collection[bytes]) -> bool:
    """Return whether these modules look at no names by themselves: they are ``own`` ones, or plain ones of Python's.

    Args:
        own: names of modules and folders, wherever they are.
        paths: those of all own modules.
    """
    others = modules - _SIMPLE_MODULES
    return others <= own and not any(_may_be_elsewhere(name, paths) for name in others)


def hides_one_of_python(paths: Collection[bytes], tests: Collection[bytes] | None) -> bool:
    """Return whether Python's own modules may import one of these in the place of one of theirs.

    Names that they look for in it are mentioned nowhere.

    Args:
        tests: files; modules are looked for in the folders above them. None: anywhere.
    """
    folders = {b""}.union(*(_folders(path) for path in (paths if tests is None else tests)))
    return any(
        _name_after(path, folder) in sys.stdlib_module_names for path in paths for folder in _folders(path) & folders
    )


def _folders(path: bytes) -> set[bytes]:
    """Return all folders above a path, each with a slash at its end, the root without."""
    parts = path.split(b"/")[:-1]
    return {b"".join(part + b"/" for part in parts[:depth]) for depth in range(len(parts) + 1)}


def _name_after(path: bytes, folder: bytes) -> str:
    """Return the name of a module or package that lies in a folder, by a path below it."""
    return path[len(folder) :].partition(b"/")[0].removesuffix(b".py").decode(errors="replace")


def _may_be_elsewhere(name: str, paths: Collection[bytes]) -> bool:
    """Return whether a module may be another one than an own one of this name, which may stand within a package."""
    if name in sys.stdlib_module_names:
        return True
    at_top = f"{name}.py".encode() in paths or f"{name}/__init__.py".encode() in paths
    return not at_top and _is_installed(name)


@lru_cache(maxsize=4096)
def _is_installed(name: str) -> bool:
    try:
        found = find_spec(name)
    except (ImportError, ValueError):
        return True
    return found is not None and found.origin is not None
