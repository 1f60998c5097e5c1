export type Json = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns why a value cannot be stored and its path; null if it can be stored. */
export function findUnstorable(value: unknown): { readonly path: readonly string[]; readonly problem: string } | null {
  if (isDeeper(value, maxJsonDepth)) return { path: [], problem: `nested deeper than ${maxJsonDepth} levels` }
  // PostgreSQL rejects U+0000, and SQLite truncates text at it.
  const path = findNul(value)
  return path === null ? null : { path, problem: 'expected text without U+0000' }
}

/** The maximum nesting depth. Serializing deeper values may overflow the stack. */
export const maxJsonDepth = 64

/** True if lists and objects are nested deeper than `levels`. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  // Much faster than by key.
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, levels - 1))
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true
  return false
}

/** Finds the path to the first text or key that contains U+0000. */
export function findNul(value: unknown): readonly string[] | null {
  if (typeof value === 'string') return value.includes('\0') ? [] : null
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) return findNulInList(value)
  for (const key in value) {
    if (key.includes('\0')) return [key]
    const path = findNul((value as Record<string, unknown>)[key])
    if (path !== null) return [key, ...path]
  }
  return null
}

function findNulInList(list: readonly unknown[]): readonly string[] | null {
  for (const [index, item] of list.entries()) {
    const path = findNul(item)
    if (path !== null) return [String(index), ...path]
  }
  return null
}

/** An undefined field equals an absent one. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [fieldsA, fieldsB] = [a as Record<string, unknown>, b as Record<string, unknown>]
  for (const key in fieldsA) if (!isSameJson(fieldsA[key], fieldsB[key])) return false
  for (const key in fieldsB) if (fieldsA[key] === undefined && fieldsB[key] !== undefined) return false
  return true
}

/** Returns the paths at which two objects differ, such as `server.port`. Lists are compared as a whole. */
export function findChangedKeys(before: unknown, after: unknown): readonly string[] {
  if (isSameJson(before, after)) return []
  if (!isRecord(before) || !isRecord(after)) return ['']
  return Object.keys({ ...before, ...after }).flatMap((key) =>
    findChangedKeys(before[key], after[key]).map((path) => (path === '' ? key : `${key}.${path}`)),
  )
}
