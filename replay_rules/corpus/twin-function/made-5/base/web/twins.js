// Twins.

export function cypress(value) {
  return value + 1;
}
