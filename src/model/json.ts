/** What JSON may be like, wherever it comes from. */

/** Deeper, and putting it into text again may overflow the stack. */
export const maxJsonDepth = 64

/** Is there anything inside more than `levels` lists and objects? */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true
  return false
}
