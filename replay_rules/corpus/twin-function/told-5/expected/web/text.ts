export function upper(text) {
  return text.toUpperCase();
}

export function clean(text: string): string {
  return text.trim();
}

export function last(text: string): string {
  return text.slice(-1);
}
