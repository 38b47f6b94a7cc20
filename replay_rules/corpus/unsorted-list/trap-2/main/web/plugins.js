export const plugins = [
  cache(),
  log(),
  gzip(),
];
