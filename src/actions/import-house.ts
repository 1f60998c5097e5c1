/** Puts what a file says into the house: adds and changes, takes nothing away; wholly, or not at all. */

import { isDeepStrictEqual } from 'node:util'
import { getPlugin } from '../manufacturers/index.ts'
import { listSources } from '../manufacturers/sources.ts'
import type { Actor } from '../model/access.ts'
import { withActivity } from '../model/hardware.ts'
import {
  type DeviceReference,
  type House,
  type HouseFile,
  type LocationEntry,
  type ManufacturerEntry,
  planSlots,
  type ReceiverEntry,
  type SettingValues,
  toPath,
} from '../model/house-file.ts'
import type { Location } from '../model/location.ts'
import type { Receiver } from '../model/receiver.ts'
import { macKey, serialKey } from '../model/reconcile.ts'
import { MaskError, unmaskSecrets } from '../model/secrets.ts'
import { isSettingKey, parseSetting } from '../model/settings.ts'
import { writeAudit } from '../store/audit.ts'
import type { Database, Tx } from '../store/database.ts'
import { logMovement, trimMovements } from '../store/discovery.ts'
import { insertGroup, saveGroup } from '../store/groups.ts'
import { insertAssignment, insertPerformer, placeChannels, saveAssignment, savePerformer } from '../store/hardware.ts'
import { insertLocation, saveLocation } from '../store/places.ts'
import { saveReceivers } from '../store/receivers.ts'
import { nextRevision } from '../store/revision.ts'
import type { Config, Secrets } from '../store/secrets.ts'
import { type StoredManufacturer, saveManufacturer, saveSetting } from '../store/settings.ts'
import { readHouse } from './export-house.ts'

/** The file asks for what cannot be; the message begins with the path inside it. */
export class ImportFault extends Error {
  override readonly name = 'ImportFault'

  constructor(path: string, expected: string) {
    super(`${path}: ${expected}`)
  }
}

export interface Count {
  created: number
  updated: number
  unchanged: number
}

export const importedKinds = [
  'manufacturers',
  'settings',
  'locations',
  'groups',
  'performers',
  'receivers',
  'assignments',
] as const
type Kind = (typeof importedKinds)[number]

export interface ImportReport {
  readonly counts: Readonly<Record<Kind, Readonly<Count>>>
  /** Devices of the file that are not known here yet: what it says of them waits for another import. */
  readonly unknown: readonly string[]
}

interface ImportDeps {
  readonly db: Database
  readonly secrets: Secrets
  now(): number
}

/** Throws ImportFault, and then nothing has changed. */
export async function importHouse(
  deps: ImportDeps,
  actor: Actor,
  file: HouseFile,
  { isRehearsal, source }: { readonly isRehearsal: boolean; readonly source: string },
): Promise<ImportReport> {
  const { db, secrets, now } = deps
  let report: ImportReport | undefined
  try {
    await db.transaction(async (tx) => {
      const revision = await nextRevision(tx)
      const work = {
        tx,
        secrets,
        revision,
        now: now(),
        file,
        before: await readHouse(tx.query, secrets),
        ...createTally(),
      }
      await putManufacturers(work)
      const locations = await putLocations(work)
      await putGroups(work)
      await putPerformers(work)
      await putReceivers(work, locations)
      await putAssignments(work)
      report = { counts: work.counts, unknown: [...new Set(work.unknown)] }
      if (isRehearsal) throw new RehearsalOver()
      await writeAudit(tx, { actor, action: 'house.import', target: source, result: 'ok', details: { ...report } })
    })
  } catch (error) {
    if (!(error instanceof RehearsalOver)) throw error
  }
  if (report === undefined) throw new Error('nothing was imported')
  return report
}

/** Everything was tried, and is taken back. */
class RehearsalOver extends Error {
  override readonly name = 'RehearsalOver'
}

interface Tally {
  readonly counts: Record<Kind, Count>
  readonly unknown: string[]
  count(kind: Kind, before: unknown, after: unknown): boolean
}

function createTally(): Tally {
  const counts = Object.fromEntries(
    importedKinds.map((kind) => [kind, { created: 0, updated: 0, unchanged: 0 }]),
  ) as Record<Kind, Count>
  return {
    counts,
    unknown: [],
    /** True when there is something to write. */
    count(kind, before, after) {
      const isSame = isDeepStrictEqual(plainOf(before), plainOf(after))
      counts[kind][before === undefined ? 'created' : isSame ? 'unchanged' : 'updated'] += 1
      return !isSame
    },
  }
}

/** Rows come without a prototype, which makes them differ from records that are the same. */
function plainOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : value
}

interface Work extends Tally {
  readonly tx: Tx
  readonly secrets: Secrets
  readonly revision: number
  readonly now: number
  readonly file: HouseFile
  readonly before: House
}

async function putManufacturers(work: Work): Promise<void> {
  const { tx, secrets, file, before } = work
  const entries = file.manufacturers ?? []
  for (const [at, entry] of entries.entries()) {
    const path = `manufacturers.${at}`
    if (entries.findIndex(({ code }) => code === entry.code) < at) {
      throw new ImportFault(`${path}.code`, `expected every code once; ${entry.code} is there already`)
    }
    const stored = before.manufacturers.find(({ code }) => code === entry.code)
    const record = mergeManufacturer(entry, stored, path)
    if (work.count('manufacturers', stored, record)) await saveManufacturer(tx, secrets, record)
    await putSettings(work, entry.settings ?? {}, entry.code, `${path}.settings`)
  }
  await putSettings(work, file.settings ?? {}, null, 'settings')
}

function mergeManufacturer(
  { settings: _, config = {}, ...given }: ManufacturerEntry,
  stored: StoredManufacturer | undefined,
  path: string,
): StoredManufacturer {
  const plugin = given.plugin ?? stored?.plugin ?? given.code
  let name = given.name ?? stored?.name ?? given.code
  const merged: Record<string, unknown> = { ...stored?.config, ...unmask(config, stored?.config ?? {}, path) }
  for (const [key, value] of Object.entries(config)) if (value === null) delete merged[key]
  try {
    name = given.name ?? stored?.name ?? getPlugin(plugin).name
    listSources({ plugin, config: merged })
  } catch (error) {
    const { message } = error as Error
    throw new ImportFault(error instanceof RangeError ? `${path}.plugin` : `${path}.config`, message)
  }
  return {
    code: given.code,
    name,
    plugin,
    api_enabled: given.api_enabled ?? stored?.api_enabled ?? true,
    config: merged,
    secretsUnreadable: stored?.secretsUnreadable ?? false,
  }
}

function unmask(config: Config, stored: Config, path: string): Config {
  try {
    return unmaskSecrets(config, stored) as Config
  } catch (error) {
    if (!(error instanceof MaskError)) throw error
    throw new ImportFault(`${path}.config.${error.message}`, 'put the secret in, or export --with-secrets')
  }
}

async function putSettings(
  work: Work,
  values: SettingValues,
  manufacturer: string | null,
  path: string,
): Promise<void> {
  for (const [key, value] of Object.entries(values)) {
    if (!isSettingKey(key)) continue
    const text = String(value)
    const parsed = parseSetting(key, text)
    if (!parsed.ok) throw new ImportFault(`${path}.${key}`, `expected ${parsed.expected}`)
    const stored = work.before.settings.find((one) => one.manufacturer === manufacturer && one.key === key)
    if (work.count('settings', stored?.value, text)) await saveSetting(work.tx, { manufacturer, key, value: text })
  }
}

/** All locations as they are then. */
async function putLocations(work: Work): Promise<Location[]> {
  const locations = [...work.before.locations]
  const put = async (entries: readonly LocationEntry[], parent: number | null): Promise<void> => {
    const take = takerOf(locations.filter((one) => one.parent === parent))
    for (const { name, description, locations: inside = [] } of entries) {
      const stored = take((one) => one.name === name)
      const fields = { name, description: description ?? stored?.description ?? '', parent }
      let place = stored
      if (place === undefined) {
        work.count('locations', undefined, fields)
        place = await insertLocation(work.tx, fields)
        locations.push(place)
      } else if (work.count('locations', place, { ...place, ...fields })) {
        await saveLocation(work.tx, { ...place, ...fields })
      }
      await put(inside, place.id)
    }
  }
  await put(work.file.locations ?? [], null)
  return locations
}

async function putGroups({ tx, file, before, count }: Work): Promise<void> {
  const codes = [...before.manufacturers, ...(file.manufacturers ?? [])].map(({ code }) => code)
  const take = takerOf(before.groups)
  for (const [at, entry] of (file.groups ?? []).entries()) {
    const { manufacturer = null } = entry
    if (manufacturer !== null && !codes.includes(manufacturer)) {
      throw new ImportFault(
        `groups.${at}.manufacturer`,
        `expected a manufacturer; there is none called ${manufacturer}`,
      )
    }
    const stored = take(({ title }) => title === entry.title)
    const group = { slots: [], hide_charts: false, manufacturer: null, ...stored, ...entry }
    if (!count('groups', stored, group)) continue
    if (stored === undefined) await insertGroup(tx, group)
    else await saveGroup(tx, { ...group, id: stored.id })
  }
}

async function putPerformers({ tx, file, before, count }: Work): Promise<void> {
  const take = takerOf(before.performers)
  for (const entry of file.performers ?? []) {
    const stored = take(({ name }) => name === entry.name)
    const performer = { notes: '', picture: null, ...stored, ...entry }
    if (!count('performers', stored, performer)) continue
    if (stored === undefined) await insertPerformer(tx, performer)
    else await savePerformer(tx, { ...performer, id: stored.id })
  }
}

async function putReceivers(work: Work, locations: readonly Location[]): Promise<void> {
  const { tx, file, before, revision, now } = work
  const wanted = new Map<number, number>()
  const wantedBy = new Map<number, string>()
  for (const [at, entry] of (file.receivers ?? []).entries()) {
    const path = `receivers.${at}`
    const location = entry.location === undefined ? undefined : placeOf(entry.location, locations, path)
    for (const [channel, slot] of Object.entries(entry.slots ?? {})) {
      const earlier = wantedBy.get(slot)
      const here = `${path}.slots.${channel}`
      if (earlier !== undefined)
        throw new ImportFault(here, `expected every position once; ${slot} is at ${earlier}, too`)
      wantedBy.set(slot, here)
    }
    const stored = findReceiver(before.receivers, entry)
    if (stored === undefined) {
      work.unknown.push(describe(entry))
      continue
    }
    const after: Receiver = {
      ...stored,
      ...(location !== undefined && { location }),
      ...(entry.name !== undefined && { name: entry.name, is_named_by_hand: true }),
    }
    const moved = wantSlots(work, entry, stored, wanted)
    const isChanged = work.count('receivers', [stored, false], [after, moved])
    if (!isChanged || isDeepStrictEqual(stored, after)) continue
    await saveReceivers(tx, revision, [after])
    if (after.location !== stored.location) await logPlacement(tx, stored, after, now)
  }
  await trimMovements(tx)
  await placeChannels(tx, revision, planSlots(before.receivers, wanted))
}

/** Whether any of its channels has to move. */
function wantSlots({ unknown }: Work, entry: ReceiverEntry, stored: Receiver, wanted: Map<number, number>): boolean {
  let moves = false
  for (const [number, slot] of Object.entries(entry.slots ?? {})) {
    const channel = stored.channels.find((one) => one.channel === Number(number))
    if (channel === undefined) {
      unknown.push(`${describe(entry)}, channel ${number}`)
      continue
    }
    wanted.set(channel.id, slot)
    moves ||= channel.slot !== slot
  }
  return moves
}

function placeOf(path: readonly string[] | null, locations: readonly Location[], where: string): number | null {
  if (path === null) return null
  const wanted = JSON.stringify(path)
  const found = locations.find(({ id }) => JSON.stringify(toPath(locations, id)) === wanted)
  if (found !== undefined) return found.id
  throw new ImportFault(`${where}.location`, `expected a location; there is none at ${path.join(' / ')}`)
}

async function logPlacement(tx: Tx, before: Receiver, after: Receiver, now: number): Promise<void> {
  const { id: device, ip } = before
  const placed = {
    old_location: before.location,
    new_location: after.location,
    movement_type: 'location_only',
  } as const
  const detected = { detected_at: now, detected_by: 'manual', reason: 'imported' } as const
  await logMovement(tx, { device, old_ip: ip, new_ip: ip, ...placed, ...detected })
}

async function putAssignments(work: Work): Promise<void> {
  const { tx, file, now, count, unknown } = work
  const entries = file.assignments ?? []
  if (entries.length === 0) return
  const { performers, receivers, units, assignments } = await readHouse(tx.query, work.secrets)
  const worn = new Map<number, number>()
  for (const [at, entry] of entries.entries()) {
    const performer = performers.find(({ name }) => name === entry.performer)
    if (performer === undefined) {
      const expected = `expected the name of a performer; there is none called ${entry.performer}`
      throw new ImportFault(`assignments.${at}.performer`, expected)
    }
    const channels = findReceiver(receivers, entry)?.channels ?? []
    const channel = channels.find((one) => one.channel === entry.channel)
    const unit = units.find((one) =>
      entry.channel === undefined
        ? one.manufacturer === entry.manufacturer && one.api_device_id === entry.api_device_id
        : channel !== undefined && one.channel_id === channel.id,
    )
    if (unit === undefined) {
      unknown.push(channels.length === 0 ? describe(entry) : `${describe(entry)}, channel ${entry.channel}`)
      continue
    }
    if (worn.has(unit.id)) {
      throw new ImportFault(
        `assignments.${at}`,
        `expected every unit once; assignments.${worn.get(unit.id)} has it, too`,
      )
    }
    worn.set(unit.id, at)
    const current = assignments.find((one) => one.wireless_unit === unit.id)
    if (!count('assignments', current?.performer, performer.id)) continue
    if (current !== undefined) await saveAssignment(tx, withActivity(current, false, now))
    const started_at = entry.since === undefined ? now : Date.parse(entry.since)
    const made = { performer: performer.id, wireless_unit: unit.id, is_active: true, started_at, ended_at: null }
    await insertAssignment(tx, made)
  }
}

/** By its serial number; else by its MAC address; else by what its system calls it, unless it is other hardware. */
function findReceiver(receivers: readonly Receiver[], entry: DeviceReference): Receiver | undefined {
  const own = receivers.filter(({ manufacturer }) => manufacturer === entry.manufacturer)
  const serial = serialKey(entry.serial_number)
  const mac = macKey(entry.mac_address)
  return (
    own.find((one) => serial !== null && serialKey(one.serial_number) === serial) ??
    own.find((one) => mac !== null && macKey(one.mac_address) === mac) ??
    own.find(
      (one) =>
        entry.api_device_id !== undefined &&
        one.api_device_id === entry.api_device_id &&
        (serial === null || serialKey(one.serial_number) === null),
    )
  )
}

function describe({ manufacturer, serial_number, mac_address, api_device_id }: DeviceReference): string {
  return `${manufacturer} ${serial_number ?? mac_address ?? api_device_id ?? ''}`
}

/** Each is given once, so that several of one name find one partner each. */
function takerOf<Item>(items: readonly Item[]): (fits: (item: Item) => boolean) => Item | undefined {
  const left = [...items]
  return (fits) => {
    const at = left.findIndex(fits)
    return at === -1 ? undefined : left.splice(at, 1)[0]
  }
}
