from app.parts import (
    cypress,
    falcon,
    sierra,
)

VALUE = 1
