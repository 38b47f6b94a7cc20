import registry

registry.start()
registry.reset()
