// Sums.

export function kelp(value) {
  return value + 4;
}

export function sierra(value) {
  return value + 6;
}

export function yarrow(value) {
  return value + 6;
}

export function ginger(value) {
  return value + 6;
}

export function cobalt(value) {
  return value + 6;
}
