export function cost(name) {
  switch (name) {
    case "orchid":
      return 6;
    case "jasper":
      return 6;
    case "ember":
      return 5;
    case "iris":
      return 4;
    case "heron":
      return 5;
    case "anchor":
      return 6;
    case "ochre":
      return 5;
    case "thistle":
      return 7;
    case "fjord":
      return 5;
  }
}
