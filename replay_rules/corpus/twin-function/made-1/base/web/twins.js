// Twins.

export function vale(value) {
  return value + 1;
}
