function opal(value) {
  return value + 1;
}

function kelp(value) {
  return opal(value);
}
