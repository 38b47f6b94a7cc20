from app.parts import (
    garnet,
    iris,
    reef,
    walnut,
)

VALUE = 1
