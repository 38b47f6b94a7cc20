from app import readers

READERS = {
    "csv": readers.read_csv,
    "json": readers.read_json,
    "xml": readers.read_xml,
}

DEFAULT = "csv"
