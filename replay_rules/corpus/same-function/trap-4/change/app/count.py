def retries():
    return 6
