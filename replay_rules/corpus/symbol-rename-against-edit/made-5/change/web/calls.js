function cedar(value) {
  return value + 1;
}

function kelp(value) {
  return cedar(value);
}
