export const blocked = new Set([
  "admin",
  "root",
  "guest", // since the audit
]);

export const size = 2;
