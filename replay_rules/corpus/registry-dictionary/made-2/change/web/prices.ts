export const prices: Record<string, number> = {
  "zephyr": 6,
  "winter": 6,
  "copper": 6,
  "ochre": 5,
  "kelp": 4,
  "cedar": 5,
  "tidal": 5,
};
