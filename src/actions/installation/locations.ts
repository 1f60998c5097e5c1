import Type from 'typebox'
import { type Location, locationFields } from '../../contract/locations.ts'
import { name } from '../../contract/schema.ts'
import { insertLocation, saveLocation } from '../../storage/locations.ts'
import { defineSection, list, sortBy, whenNotEmpty } from './entries.ts'
import { createPicker, type ImportContext } from './import-context.ts'

/** Locations are nested, and identified by their names. */
interface LocationEntry {
  readonly name: string
  readonly description?: string
  readonly zone?: string | null
  readonly country?: string | null
  readonly latitude?: number | null
  readonly longitude?: number | null
  readonly locations?: readonly LocationEntry[]
}

const LocationEntry = Type.Unsafe<LocationEntry>(
  Type.Cyclic(
    {
      Location: Type.Object(
        {
          name,
          ...locationFields,
          locations: Type.Optional(Type.Array(Type.Ref('Location'), { description: 'a list of locations' })),
        },
        { additionalProperties: false, description: 'a location with at least a name' },
      ),
    },
    'Location',
  ),
)

export const locationSection = defineSection(
  list(LocationEntry, 'a list of locations'),
  ({ locations }) => exportLocations(locations),
  importLocations,
)

function exportLocations(locations: readonly Location[], parent: number | null = null): LocationEntry[] {
  return sortBy(
    locations.filter((location) => location.parent === parent),
    ({ name }) => name,
  ).map(({ id, name, description, zone, country, latitude, longitude }) => ({
    name,
    ...(description !== '' && { description }),
    ...(zone !== null && { zone }),
    ...(country !== null && { country }),
    ...(latitude !== null && longitude !== null && { latitude, longitude }),
    ...whenNotEmpty('locations', exportLocations(locations, id)),
  }))
}

/** Returns the names of the location and its ancestors, outermost first. */
export function pathOf(locations: readonly Location[], id: number): string[] {
  const path: string[] = []
  let current = locations.find((location) => location.id === id)
  while (current !== undefined && path.length <= locations.length) {
    path.unshift(current.name)
    const { parent } = current
    current = locations.find((location) => location.id === parent)
  }
  return path
}

async function importLocations(work: ImportContext, entries: readonly LocationEntry[] = []): Promise<void> {
  const locations = [...work.before.locations]
  const put = async (children: readonly LocationEntry[], parent: number | null): Promise<void> => {
    const pick = createPicker(locations.filter((location) => location.parent === parent))
    for (const { name, description, zone, country, latitude, longitude, locations: inside = [] } of children) {
      const stored = pick((candidate) => candidate.name === name)
      const fields = {
        name,
        description: description ?? stored?.description ?? '',
        zone: zone === undefined ? (stored?.zone ?? null) : zone,
        country: country === undefined ? (stored?.country ?? null) : (country?.toUpperCase() ?? null),
        latitude: latitude === undefined ? (stored?.latitude ?? null) : latitude,
        longitude: longitude === undefined ? (stored?.longitude ?? null) : longitude,
        parent,
      }
      let location = stored
      if (location === undefined) {
        work.count('locations', undefined, fields)
        location = await insertLocation(work.tx, fields)
        locations.push(location)
      } else if (work.count('locations', location, { ...location, ...fields })) {
        await saveLocation(work.tx, { ...location, ...fields })
      }
      await put(inside, location.id)
    }
  }
  await put(entries, null)
}
