from app import readers

READERS = {
    "csv": readers.read_csv,
    "dbf": lambda file: readers.read(
        file,
        kind="dbf",
    ),
    "ini": readers.read_ini,
    "json": readers.read_json,
}

DEFAULT = "csv"
