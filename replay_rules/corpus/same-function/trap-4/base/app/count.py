def retries():
    return 5
