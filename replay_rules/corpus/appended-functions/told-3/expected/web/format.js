export function bold(text) {
  return `*${text}*`;
}

export function code(text) {
  if (!text) {
    return "";
  }
  return "`" + text + "`";
}

export const link = (text, href) => {
  return `[${text}](${href})`;
};
