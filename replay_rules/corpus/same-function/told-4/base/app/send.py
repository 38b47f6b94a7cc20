def send(to, *, text=""):
    message = make(to)
    message.text = text
    return message
