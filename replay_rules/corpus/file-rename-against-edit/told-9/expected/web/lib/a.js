function load(path) {
  return path.trim();
}

function main(path) {
  return load(path);
}
