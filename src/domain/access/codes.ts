/** Codes that people type: letters without look-alikes (Crockford's Base32). */

export const codeLetters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Ignores separators and case, and treats look-alike characters as equal. */
export function normalizeCode(entered: string): string {
  return entered.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')
}
