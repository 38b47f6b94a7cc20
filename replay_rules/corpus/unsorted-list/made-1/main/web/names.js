export const known = new Set([
  "quartz",
  "oasis",
  "sorrel",
  "zephyr",
  "pebble",
  "winter",
]);
