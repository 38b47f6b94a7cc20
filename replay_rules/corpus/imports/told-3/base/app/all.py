from app.parts import (
    Bolt,
    Nut,
)

parts = [Bolt, Nut]
