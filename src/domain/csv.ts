/** Cells of CSV files (RFC 4180). */

/** Spreadsheet programs read a file that begins with this as UTF-8. */
export const byteOrderMark = '\uFEFF'

/**
 * Converts text to a cell. Spreadsheet programs execute a cell that begins with one of these characters as a formula,
 * so an apostrophe precedes it; some convert the full-width forms first. Cells with the separators of other regions are
 * quoted, because a program may split a line at them.
 */
export function toTextCell(text: string): string {
  const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export function toLine(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`
}

/** Null is an empty cell. */
export function toCell(value: string | number | null): string {
  return typeof value === 'string' ? toTextCell(value) : String(value ?? '')
}
