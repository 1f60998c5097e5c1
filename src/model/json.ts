/** What JSON may be like, wherever it comes from. */

/** What keeps a value from being stored, with the way to it, key by key; null where nothing does. */
export function findUnstorable(value: unknown): { readonly path: readonly string[]; readonly problem: string } | null {
  if (isDeeper(value, maxJsonDepth)) return { path: [], problem: `nested deeper than ${maxJsonDepth} levels` }
  // PostgreSQL refuses U+0000 and SQLite cuts a text there.
  const path = findNul(value)
  return path === null ? null : { path, problem: 'expected text without U+0000' }
}

/** Deeper, and putting it into text again may overflow the stack. */
export const maxJsonDepth = 64

/** Is there anything inside more than `levels` lists and objects? */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true
  return false
}

/** The way, key by key, to the first text that has U+0000, or to the key that has it; null where there is none. */
export function findNul(value: unknown): readonly string[] | null {
  if (typeof value === 'string') return value.includes('\0') ? [] : null
  if (typeof value !== 'object' || value === null) return null
  for (const [key, inner] of Object.entries(value)) {
    if (key.includes('\0')) return [key]
    const way = findNul(inner)
    if (way !== null) return [key, ...way]
  }
  return null
}
