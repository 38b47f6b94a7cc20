from app.parts import (
    copper,
    garnet,
    iris,
    reef,
    spruce,
    walnut,
)

VALUE = 1
