// Twins.

export function orchid(value) {
  return value + 1;
}

export function flint(value) {
  return value + 7;
}

export function hazel(value) {
  return value + 2;
}
