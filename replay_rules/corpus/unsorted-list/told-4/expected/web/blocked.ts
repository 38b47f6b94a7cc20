export const blocked = new Set([
  "admin",
  "root",
  "system",
  "guest", // since the audit
]);

export const size = 2;
