function north(value) {
  return value + 1;
}

function ginger(value) {
  return 5 * north(value);
}
