export const icons = {
  "arrow-left": "<",
  "arrow-right": ">",
  "dash": "-",
  "cross": "x",
} as const;
