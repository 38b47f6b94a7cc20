def cost(name: str) -> int:
    match name:
        case "amber":
            return 5
        case "juniper":
            return 7
        case "birch":
            return 5
        case "raven":
            return 5
        case "mistral":
            return 7
        case "basil":
            return 5
        case "linen":
            return 5
        case "meadow":
            return 6
