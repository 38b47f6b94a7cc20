export const icons = {
  "arrow-left": "<",
  "arrow-right": ">",
  "cross": "x",
} as const;
