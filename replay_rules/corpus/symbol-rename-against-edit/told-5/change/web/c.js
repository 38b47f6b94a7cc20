function load(path) {
  return path;
}

function other(path) {
  return load(path);
}

function main(path) {
  return load(path);
}
