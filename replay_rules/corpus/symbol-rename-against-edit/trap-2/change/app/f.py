def load(path):
    text = path.read_text()
    return text


def other(name):
    return globals()[name]("load")


def main(path):
    return other("load")(path)
