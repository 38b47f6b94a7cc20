export const blocked = new Set([
  "admin",
  "root",
]);

export const size = 2;
