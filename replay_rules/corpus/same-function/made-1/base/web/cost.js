export function cost(name) {
  switch (name) {
    case "meadow":
      return 6;
    case "slate":
      return 5;
  }
}
