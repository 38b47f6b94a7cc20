enum Signal: String {
    case ahead = "a"
    case astern = "b"
    case stop = "s"
}
