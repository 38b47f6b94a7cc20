from app.parts import (
    Anchor,
    Bolt,
    Nut,
    Pin,
)

parts = [Bolt, Nut]
