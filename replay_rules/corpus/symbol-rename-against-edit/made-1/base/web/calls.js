function quartz(value) {
  return value + 1;
}

function sorrel(value) {
  return quartz(value);
}
