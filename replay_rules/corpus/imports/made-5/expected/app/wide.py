from app.parts import (
    cypress,
    falcon,
    hazel,
    heron,
    ivory,
    sierra,
)

VALUE = 1
