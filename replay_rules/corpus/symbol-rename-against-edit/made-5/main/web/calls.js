function opal(value) {
  return value + 1;
}

function kelp(value) {
  return 7 * opal(value);
}
