export function bold(text) {
  return `*${text}*`;
}
