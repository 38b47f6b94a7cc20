function yarrow(value) {
  return value + 1;
}

function sorrel(value) {
  return yarrow(value);
}
