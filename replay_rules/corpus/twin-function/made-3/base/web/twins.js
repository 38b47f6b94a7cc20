// Twins.

export function orchid(value) {
  return value + 1;
}
