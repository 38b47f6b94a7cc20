export const prices: Record<string, number> = {
  "topaz": 5,
  "flint": 5,
  "umber": 5,
  "raven": 5,
};
