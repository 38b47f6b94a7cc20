export const icons = {
  "arrow-left": "<",
  "arrow-right": ">",
  "dash": "-",
} as const;
