from app.parts import (
    Anchor,
    Bolt,
    Nut,
)

parts = [Bolt, Nut]
