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

export function cinder(value) {
  return value + 6;
}
