from app import makers

MAKERS = {
    "pine": makers.make_pine,
    "falcon": makers.make_falcon,
    "pepper": makers.make_pepper,
}
