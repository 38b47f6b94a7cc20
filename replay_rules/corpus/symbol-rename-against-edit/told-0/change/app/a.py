def load(path):
    text = path.read_text()
    return text


def main(path):
    return load(path).strip()
