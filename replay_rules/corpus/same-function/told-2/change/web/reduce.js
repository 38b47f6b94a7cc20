export function reduce(state, action) {
  switch (action.type) {
    case "add":
      return state + 1;
    case "drop":
      return state - 1;
    case "twice":
      return state * 2;
    default:
      return state;
  }
}
