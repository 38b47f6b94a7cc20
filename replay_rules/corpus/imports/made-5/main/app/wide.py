from app.parts import (
    cypress,
    falcon,
    hazel,
    ivory,
    sierra,
)

VALUE = 1
