/**
 * All numbers are rounded before they are written, because all numeric columns hold integers. PostgreSQL rejects a
 * fraction and aborts the transaction; SQLite would store it.
 */

/** Converts a value for storage. Throws a RangeError for NaN and infinity. */
export function toStorable<Value>(value: Value): Value | number {
  return typeof value === 'number' ? toWhole(value) : value
}

function toWhole(value: number): number {
  if (Number.isSafeInteger(value)) return value
  if (!Number.isFinite(value)) throw new RangeError(`${value} cannot be stored`)
  const limited = Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, Math.round(value)))
  // Rounding may return negative zero; adding 0 makes it positive.
  return limited + 0
}
