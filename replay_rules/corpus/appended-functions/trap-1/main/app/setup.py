import registry

registry.start()
registry.load("a")
