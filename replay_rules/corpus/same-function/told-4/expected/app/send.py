def send(to, *, text="", sender=None, copy=None):
    message = make(to)
    message.text = text
    return message
