/** What this device remembers. */

/** A browser that forbids storage remembers nothing; the address still works. */
export function recall(key: string): string {
  try {
    return localStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // As above.
  }
}
