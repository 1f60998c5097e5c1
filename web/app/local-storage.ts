/** If the browser denies access to its storage, nothing is remembered. Settings in the URL still work. */
export function readLocal(key: string): string {
  try {
    return localStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

export function writeLocal(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Access was denied, or the storage is full.
  }
}

export function removeLocal(key: string): void {
  try {
    localStorage.removeItem(key)
  } catch {
    // Nothing was stored.
  }
}

export function listLocal(): readonly string[] {
  try {
    return Object.keys(localStorage)
  } catch {
    return []
  }
}
