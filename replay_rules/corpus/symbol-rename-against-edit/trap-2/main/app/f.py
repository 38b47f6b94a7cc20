def read(path):
    text = path.read_text()
    return text


def main(path):
    return read(path)
