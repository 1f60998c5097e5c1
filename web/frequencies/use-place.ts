import { useQuery } from '@tanstack/react-query'
import type { Location } from '../../src/contract/locations.ts'
import type { CountryBandsBody } from '../../src/contract/places.ts'
import type { Place } from '../../src/domain/frequencies/tv-stations.ts'
import { useServices } from '../app/context.ts'
import { useSearch } from '../app/query.ts'
import { resourceQuery } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { formatCoordinates, parseCoordinates } from '../parts/coordinates.ts'

export interface ChosenPlace {
  readonly country: string | null
  readonly coordinates: Place | null
}

/** Also where the country or coordinates of no location are known. */
export interface LocatedPlace extends ChosenPlace {
  readonly id: number
  readonly name: string
}

export interface PlaceChoice extends ChosenPlace {
  readonly bands: CountryBandsBody | null
  /** The locations with a country or coordinates. */
  readonly locations: readonly LocatedPlace[]
  choose(place: ChosenPlace): void
  reload(): Promise<void>
}

/** The country and the coordinates in the address; without them, those of the first location that has any. */
export function usePlace(): PlaceChoice {
  const { api } = useServices()
  const [search, change] = useSearch()
  const mayInspect = useMay('inspect')
  const { data: known } = useQuery({
    ...resourceQuery(api, { address: '/api/admin/locations/', shape: 'list', topics: [] }),
    enabled: mayInspect,
  })
  const locations = (known ?? []).map(toPlace).filter(({ country, coordinates }) => country ?? coordinates)
  const { country, coordinates } = placeIn(search) ?? locations[0] ?? { country: null, coordinates: null }
  const { data: bands, refetch } = useQuery({
    ...resourceQuery(api, {
      address: `/api/frequencies/bands/?country=${country ?? ''}`,
      shape: 'object',
      topics: ['snapshot'],
    }),
    enabled: country !== null,
  })
  return {
    ...{ country, coordinates, locations },
    bands: country === null ? null : (bands ?? null),
    choose: (place) =>
      change({
        country: place.country ?? '',
        near: place.coordinates === null ? null : formatCoordinates(place.coordinates),
      }),
    async reload() {
      await refetch()
    },
  }
}

function placeIn(search: string): ChosenPlace | null {
  const query = new URLSearchParams(search)
  const [country, near] = [query.get('country'), query.get('near')]
  if (country === null && near === null) return null
  const code = (country ?? '').toUpperCase()
  return { country: /^[A-Z]{2}$/.test(code) ? code : null, coordinates: parseCoordinates(near ?? '') }
}

function toPlace({ id, name, country, latitude, longitude }: Location): LocatedPlace {
  const coordinates = latitude === null || longitude === null ? null : { latitude, longitude }
  return { id, name, country, coordinates }
}
