from app.parts import (
    Bolt,
    Nut,
    Pin,
)

parts = [Bolt, Nut]
