import type { Place } from '../../src/domain/frequencies/tv-stations.ts'

const separators = [';', /,\s+/, ',', /\s+/] as const

/** Reads degrees such as `52.52, 13.405`, as maps copy them, also with decimal commas and `N`, `S`, `E`, `W`. */
export function parseCoordinates(text: string): Place | null {
  for (const separator of separators) {
    const [first, second, ...others] = text.trim().split(separator)
    const [latitude, longitude] = [parseDegrees(first, 'NS', 90), parseDegrees(second, 'EW', 180)]
    if (latitude !== null && longitude !== null && others.length === 0) return { latitude, longitude }
  }
  return null
}

function parseDegrees(text: string | undefined, directions: string, most: number): number | null {
  const [, number, letter = ''] = /^([+\-−]?\d{1,3}(?:[.,]\d+)?)\s*°?\s*([NSEW]?)$/i.exec(text?.trim() ?? '') ?? []
  const direction = letter.toUpperCase()
  if (number === undefined || !directions.includes(direction)) return null
  const degrees = Number(number.replace('−', '-').replace(',', '.'))
  if (Math.abs(degrees) > most) return null
  return direction === directions[1] ? -degrees : degrees
}

export function formatCoordinates({ latitude, longitude }: Place): string {
  return `${latitude}, ${longitude}`
}
