function load(path) {
  return path;
}

function main(path) {
  return load(path);
}
