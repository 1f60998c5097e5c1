/** TV stations that an operator has imported, and their distance from a place. */

const maxTvStations = 50_000

export interface TvStation {
  /** As in the file; channels are named by number, and in some countries with a letter. */
  readonly channel: string
  /** Degrees; north and east are positive. */
  readonly latitude: number
  readonly longitude: number
  /** Effective radiated power in kW; null if the file does not contain it. */
  readonly erp_kw: number | null
  readonly name: string
}

export interface Place {
  readonly latitude: number
  readonly longitude: number
}

/** The message names the line and the column. */
export class TvStationFileError extends Error {
  override readonly name = 'TvStationFileError'
}

const columns = ['channel', 'latitude', 'longitude', 'erp_kw', 'name'] as const

/** Reads rows of which the first is the heading. Throws a `TvStationFileError`, so a file is stored whole or not at all. */
export function readTvStations(rows: readonly (readonly string[])[]): readonly TvStation[] {
  const [heading = [], ...others] = rows
  const names = heading.map((cell) => cell.trim().toLowerCase())
  const missing = columns.find((column) => !names.includes(column))
  if (missing !== undefined) {
    throw new TvStationFileError(`Line 1: there is no column ${missing}. Expected the heading ${columns.join(',')}.`)
  }
  const stations = others.flatMap((cells, index) => {
    if (cells.every((cell) => cell.trim() === '')) return []
    const cellOf = (column: (typeof columns)[number]) => (cells[names.indexOf(column)] ?? '').trim()
    return readStation(cellOf, index + 2)
  })
  if (stations.length === 0) throw new TvStationFileError('The file contains no stations.')
  if (stations.length > maxTvStations)
    throw new TvStationFileError(`The file contains more than ${maxTvStations} stations.`)
  return stations
}

function readStation(cellOf: (column: (typeof columns)[number]) => string, line: number): TvStation {
  const channel = cellOf('channel')
  if (!/^\d{1,3}[A-Z]?$/i.test(channel)) throw fault(line, 'channel', channel, 'the number of a TV channel')
  const erp = cellOf('erp_kw')
  return {
    channel: channel.toUpperCase(),
    latitude: numberIn(cellOf('latitude'), { line, column: 'latitude', limit: 90 }),
    longitude: numberIn(cellOf('longitude'), { line, column: 'longitude', limit: 180 }),
    erp_kw: erp === '' ? null : Math.abs(numberIn(erp, { line, column: 'erp_kw', limit: 100_000 })),
    name: cellOf('name').slice(0, 255),
  }
}

function numberIn(
  text: string,
  { line, column, limit }: { readonly line: number; readonly column: string; readonly limit: number },
): number {
  const number = /^[+-]?\d{1,6}(\.\d{1,10})?$/.test(text) ? Number(text) : Number.NaN
  if (!(Math.abs(number) <= limit)) throw fault(line, column, text, `a number of at most ${limit}`)
  return number
}

function fault(line: number, column: string, text: string, expected: string): TvStationFileError {
  return new TvStationFileError(
    `Line ${line}, ${column}: expected ${expected}, found ${JSON.stringify(text.slice(0, 40))}.`,
  )
}

const earthRadiusKm = 6371
const radiansPerDegree = Math.PI / 180

/** Returns the distance on a sphere in km, by the haversine formula. */
function distanceKm(from: Place, to: Place): number {
  const latitudes = (to.latitude - from.latitude) * radiansPerDegree
  const longitudes = (to.longitude - from.longitude) * radiansPerDegree
  const cosines = Math.cos(from.latitude * radiansPerDegree) * Math.cos(to.latitude * radiansPerDegree)
  const haversine = Math.sin(latitudes / 2) ** 2 + cosines * Math.sin(longitudes / 2) ** 2
  return 2 * earthRadiusKm * Math.asin(Math.min(1, Math.sqrt(haversine)))
}

/** Sorts by distance, and stations at the same place by power. The distance is rounded to 0.1 km. */
export function stationsByDistance(stations: readonly TvStation[], place: Place) {
  return stations
    .map((station) => ({ ...station, distance_km: Math.round(distanceKm(place, station) * 10) / 10 }))
    .sort((a, b) => a.distance_km - b.distance_km || (b.erp_kw ?? 0) - (a.erp_kw ?? 0))
}
