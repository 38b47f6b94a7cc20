"""Words by which code may look at names, sources or lines that it does not mention."""

from __future__ import annotations

_LOOKING = """
    * attrgetter breakpoint co_firstlineno compile currentframe delattr dir eval exec extract_stack f_back f_globals
    f_lineno f_locals format_exc format_tb get_type_hints getattr getrefcount getsizeof glob globals hasattr help
    import_module iterdir lineno listdir locals methodcaller modules open print_exc read_bytes read_text rglob scandir
    setattr setprofile settrace stack_info stacklevel tb_frame tb_lineno vars walk with_traceback
"""

# Names with two underscores by which Python reaches what is mentioned anyway, or that say nothing of other names.
_HARMLESS = """
    abs add aenter aexit aiter all and anext await bool bytes call ceil complex contains del delitem
    divmod doc enter eq exit float floor floordiv format future ge getitem gt hash iadd iand ifloordiv ilshift imod imul
    index init int invert ior ipow irshift isub iter itruediv ixor le len lshift lt main matmul missing mod mul name ne
    neg new next or pos post_init pow radd rand repr reversed rfloordiv rlshift rmod rmul ror round rpow rrshift rshift
    rsub rtruediv rxor setitem str sub truediv trunc version xor
"""

# Of what Python brings, these look at no module's names by themselves.
_SIMPLE = """
    __future__ abc argparse array asyncio base64 binascii bisect bz2 calendar cmath codecs collections colorsys
    contextlib contextvars copy csv dataclasses datetime decimal difflib enum errno fnmatch fractions functools getopt
    graphlib gzip hashlib heapq hmac html io ipaddress itertools json keyword locale logging lzma math mimetypes numbers
    operator os pathlib platform posixpath pprint queue random re reprlib secrets shlex sqlite3 stat statistics string
    stringprep struct sys tempfile textwrap threading time tomllib types typing unicodedata urllib uuid warnings weakref
    xml zipfile zlib zoneinfo
"""

_LOOKING_WORDS = frozenset(_LOOKING.split())
_HARMLESS_WORDS = frozenset(f"__{word}__" for word in _HARMLESS.split())
_SIMPLE_MODULES = frozenset(_SIMPLE.split())


def looks(words: frozenset[str]) -> bool:
    """Return whether code with these words may look at names that are not among them."""
    return not words.isdisjoint(_LOOKING_WORDS) or any(
        word.startswith("__") and word not in _HARMLESS_WORDS for word in words
    )


def all_simple(modules: frozenset[str], own: frozenset[str]) -> bool:
    """Return whether these modules look at no names by themselves: they are ``own`` ones, or plain ones of Python's."""
    return modules <= _SIMPLE_MODULES | own
