from app import readers

READERS = {
    "csv": readers.read_csv,
    "dbf": lambda file: readers.read(
        file,
        kind="dbf",
    ),
    "json": readers.read_json,
}

DEFAULT = "csv"
