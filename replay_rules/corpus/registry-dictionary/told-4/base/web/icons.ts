export const icons = {
  "arrow-left": "<",
  "arrow-right": ">",
} as const;
