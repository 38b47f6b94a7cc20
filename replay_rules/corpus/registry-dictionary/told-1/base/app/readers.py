from app import readers

READERS = {
    "csv": readers.read_csv,
    "json": readers.read_json,
}

DEFAULT = "csv"
