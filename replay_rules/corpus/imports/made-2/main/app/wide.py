from app.parts import (
    copper,
    iris,
    reef,
    spruce,
    walnut,
)

VALUE = 1
