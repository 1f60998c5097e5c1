/**
 * Every column of both databases holds text or whole numbers. PostgreSQL refuses a fraction, and with it everything else
 * in the transaction; SQLite would store it. So numbers are rounded on their way to either, here and nowhere else.
 */

/** The value as a column can hold it. Throws a RangeError for what is no number. */
export function toStorable<Value>(value: Value): Value | number {
  return typeof value === 'number' ? toWhole(value) : value
}

function toWhole(value: number): number {
  if (Number.isSafeInteger(value)) return value
  if (!Number.isFinite(value)) throw new RangeError(`${value} cannot be stored`)
  const limited = Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, Math.round(value)))
  // Rounding may give a negative zero.
  return limited + 0
}
