import registry

registry.start()
