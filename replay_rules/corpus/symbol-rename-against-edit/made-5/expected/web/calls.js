function cedar(value) {
  return value + 1;
}

function kelp(value) {
  return 7 * cedar(value);
}
