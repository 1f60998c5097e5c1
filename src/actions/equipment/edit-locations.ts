/** Adds, changes and removes locations. */

import type { Location } from '../../contract/locations.ts'
import type { Actor } from '../../domain/access/access.ts'
import { isCircular } from '../../domain/equipment/location.ts'
import { changedFields } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import type { RequireVersion, Unstored } from '../../domain/versions.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { insertLocation, listLocations, removeLocation, saveLocation } from '../../storage/locations.ts'

export type LocationEdit = Partial<Unstored<Location>>

export async function addLocation(
  service: Service,
  actor: Actor,
  { name, description = '', zone = null, parent = null, ...place }: LocationEdit & Pick<Location, 'name'>,
): Promise<Location> {
  const location = await service.ingest.change(async (tx) => {
    checkParent(await listLocations(tx.query), parent)
    const fields = { name, description, zone, parent, ...noPlace, ...withCapitals(place) }
    checkCoordinates(fields)
    const made = await insertLocation(tx, fields)
    const details = { name, parent }
    await writeAudit(tx, { actor, action: 'location.add', target: `location ${made.id}`, result: 'ok', details })
    return made
  })
  await service.reload()
  return location
}

export async function changeLocation(
  service: Service,
  actor: Actor,
  id: number,
  edit: LocationEdit,
  requireVersion: RequireVersion<Location>,
): Promise<Location> {
  const location = await service.ingest.change(async (tx) => {
    const locations = await listLocations(tx.query)
    const before = findLocation(locations, id)
    requireVersion(before, `location ${id}`)
    const details = changedFields<Location>(before, withCapitals(edit))
    checkCoordinates({ ...before, ...details })
    if (details.parent !== undefined) {
      checkParent(locations, details.parent)
      if (isCircular(locations, id, details.parent)) {
        throw new RequestError('bad_request', { details: 'parent: a location cannot be inside itself' })
      }
    }
    const after = await saveLocation(tx, { ...before, ...details })
    await writeAudit(tx, { actor, action: 'location.change', target: `location ${id}`, result: 'ok', details })
    return after
  })
  await service.reload()
  return location
}

/** Deletes a location. Throws a RequestError if it still contains receivers or other locations. */
export async function deleteLocation(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<Location>,
): Promise<void> {
  await service.ingest.change(async (tx) => {
    const locations = await listLocations(tx.query)
    const location = findLocation(locations, id)
    requireVersion(location, `location ${id}`)
    const receivers = service.receiverStore.list().filter((receiver) => receiver.location === id).length
    const children = locations.filter(({ parent }) => parent === id).length
    if (receivers + children > 0) {
      const details = `${receivers} receiver(s) and ${children} location(s); move them first`
      throw new RequestError('not_empty', { subject: `location ${id}`, details })
    }
    await removeLocation(tx, id)
    await writeAudit(tx, {
      actor,
      action: 'location.delete',
      target: `location ${id}`,
      result: 'ok',
      details: { name: location.name },
    })
  })
  await service.reload()
}

const noPlace = { country: null, latitude: null, longitude: null }

function withCapitals<Edit extends Pick<LocationEdit, 'country'>>(edit: Edit): Edit {
  return typeof edit.country === 'string' ? { ...edit, country: edit.country.toUpperCase() } : edit
}

/** Throws a RequestError if only one of them is known. */
export function checkCoordinates({ latitude, longitude }: Pick<Location, 'latitude' | 'longitude'>): void {
  if ((latitude === null) === (longitude === null)) return
  const missing = latitude === null ? 'latitude' : 'longitude'
  throw new RequestError('bad_request', { details: `${missing}: expected both latitude and longitude, or neither` })
}

function findLocation(locations: readonly Location[], id: number): Location {
  const found = locations.find((location) => location.id === id)
  if (found === undefined) throw new RequestError('not_found', { subject: `location ${id}` })
  return found
}

function checkParent(locations: readonly Location[], parent: number | null): void {
  if (parent === null || locations.some(({ id }) => id === parent)) return
  throw new RequestError('bad_request', { details: `parent: there is no location ${parent}` })
}
