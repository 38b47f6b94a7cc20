export const known = new Set([
  "quartz",
  "oasis",
  "sorrel",
  "zephyr",
  "pine",
  "quill",
]);
