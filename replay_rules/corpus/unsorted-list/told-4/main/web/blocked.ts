export const blocked = new Set([
  "admin",
  "root",
  "system",
]);

export const size = 2;
