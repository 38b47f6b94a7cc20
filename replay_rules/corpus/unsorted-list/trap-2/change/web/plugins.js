export const plugins = [
  cache(),
  log(),
  encrypt(),
];
