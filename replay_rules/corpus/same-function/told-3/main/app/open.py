def open_file(path, mode="r", *, encoding="utf-8"):
    return path, mode, encoding
