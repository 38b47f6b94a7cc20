export function bold(text) {
  return `*${text}*`;
}

export const link = (text, href) => {
  return `[${text}](${href})`;
};
