def load(path):
    text = path.read_text()
    return text


def other(path):
    return load(path)


def main(path):
    return load(path)
