def read(path):
    text = path.read_text()
    return text


def other(path):
    return read(path)


def main(path):
    return read(path)
