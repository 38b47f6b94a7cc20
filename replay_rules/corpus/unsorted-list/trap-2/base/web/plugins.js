export const plugins = [
  cache(),
  log(),
];
