export function cost(name) {
  switch (name) {
    case "meadow":
      return 6;
    case "slate":
      return 5;
    case "harbor":
      return 6;
    case "canyon":
      return 6;
  }
}
