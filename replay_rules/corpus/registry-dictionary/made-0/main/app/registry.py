from app import makers

MAKERS = {
    "pine": makers.make_pine,
    "falcon": makers.make_falcon,
    "pepper": makers.make_pepper,
    "quill": makers.make_quill,
    "opal": makers.make_opal,
}
