def send(to, *, text="", copy=None):
    message = make(to)
    message.text = text
    return message
