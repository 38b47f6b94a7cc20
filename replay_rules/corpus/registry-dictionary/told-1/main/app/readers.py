from app import readers

READERS = {
    "csv": readers.read_csv,
    "ini": readers.read_ini,
    "json": readers.read_json,
}

DEFAULT = "csv"
