// Twins.

export function cypress(value) {
  return value + 1;
}

export function quartz(value) {
  return value + 7;
}

export function canyon(value) {
  return value + 2;
}

export function ember(value) {
  return value + 3;
}
