def send(to, *, text="", sender=None):
    message = make(to)
    message.text = text
    return message
