function yarrow(value) {
  return value + 1;
}

function sorrel(value) {
  return 3 * yarrow(value);
}
