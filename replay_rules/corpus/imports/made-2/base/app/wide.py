from app.parts import (
    iris,
    reef,
    walnut,
)

VALUE = 1
