import type { Levels } from './watch.ts'

export const rfShare = (dbm: number) => share(dbm, -100, -30)

export function rfShareOf({ rf, rfPercent }: Levels): number | null {
  if (rf !== null) return rfShare(rf)
  return rfPercent === null ? null : share(rfPercent, 0, 100)
}

export const audioShare = (dbfs: number) => share(dbfs, -60, 0)

export const batteryShare = (percent: number) => share(percent, 0, 100)

function share(value: number, least: number, most: number): number {
  return Math.min(1, Math.max(0, (value - least) / (most - least)))
}
