export function upper(text) {
  return text.toUpperCase();
}

export function clean(text) {
  return text.trim();
}
