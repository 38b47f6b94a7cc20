from app.parts import (
    cypress,
    falcon,
    heron,
    sierra,
)

VALUE = 1
