function hazel(value) {
  return value + 1;
}

function ginger(value) {
  return 5 * hazel(value);
}
