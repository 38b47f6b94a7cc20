def fetch(path):
    text = path.read_text()
    return text


def main(path):
    return fetch(path)
