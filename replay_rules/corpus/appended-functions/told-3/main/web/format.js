export function bold(text) {
  return `*${text}*`;
}

export function code(text) {
  if (!text) {
    return "";
  }
  return "`" + text + "`";
}
