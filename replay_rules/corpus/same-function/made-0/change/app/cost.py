def cost(name: str) -> int:
    match name:
        case "basil":
            return 5
        case "willow":
            return 6
        case "quill":
            return 5
        case "lagoon":
            return 6
        case "mistral":
            return 7
        case "prairie":
            return 7
