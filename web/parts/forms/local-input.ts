export function toLocalInput(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

export function fromLocalInput(text: string): number | null {
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}
