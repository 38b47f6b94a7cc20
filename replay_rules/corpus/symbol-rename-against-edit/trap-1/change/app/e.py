def load(path):
    text = path.read_text()
    return text


def read(path):
    return path.read_bytes()


def main(path):
    return load(path)
