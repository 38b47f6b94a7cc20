from app import readers

READERS = {
    "csv": readers.read_csv,
    "json": readers.read_json,
    "toml": readers.read_toml_fast,
}

DEFAULT = "csv"
