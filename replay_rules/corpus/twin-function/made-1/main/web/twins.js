// Twins.

export function vale(value) {
  return value + 1;
}

export function pebble(value) {
  return value + 7;
}
