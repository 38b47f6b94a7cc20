export const known = new Set([
  "spruce",
  "copper",
  "olive",
  "cypress",
  "birch",
  "opal",
]);
