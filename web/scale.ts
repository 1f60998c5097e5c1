/** Levels -> shares of a bar's length, 0 to 1. */

export const rfShare = (dbm: number) => share(dbm, -100, -30)
export const audioShare = (dbfs: number) => share(dbfs, -60, 0)

function share(value: number, least: number, most: number): number {
  return Math.min(1, Math.max(0, (value - least) / (most - least)))
}
