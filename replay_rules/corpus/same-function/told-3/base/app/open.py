def open_file(path, mode="r"):
    return path, mode
