/** Chargers of ESW (ESW-CHG4, ESW-CHG5): queries, and the conversion of their answers. Pure. */

import type { DeviceReport } from '../../domain/equipment/receiver.ts'
import { withoutUndefined } from '../../upstream/fields.ts'
import { createReader, type Family, isAbsent, keyOf, macOf, queriesFor, type Replies, readPresence } from './family.ts'
import { charger as fields } from './fields.ts'

/** A charger rejects queries for ports that it does not have. */
const ports = [1, 2, 3, 4, 5, 6, 7, 8] as const
const transmitterCommands = ['gtxname', 'gtxmodel']

export const charger: Family = {
  deviceType: 'charger',
  fields,
  isModel: (model) => /^ESW-CHG/i.test(model),
  positions: ports,
  identityQueries: [{ command: 'gipnet' }, { command: 'gmyname' }, { command: 'glocationname' }],
  levelQueries: () => queriesFor(['glevelbatt'], ports),
  settingQueries: (replies) =>
    queriesFor(
      transmitterCommands,
      ports.filter((port) => isOccupied(replies, port)),
    ),
  transmitterCommands,
  isLinked: isOccupied,
  idOf: (replies, address) => `esw-charger:${macOf(replies) ?? address}`,
  toDetails: (replies) => withoutUndefined({ description: createReader(replies)(fields.location) ?? undefined }),
  toUnits(replies, { id, name }) {
    // The list must be complete, except for ports with an undocumented answer.
    if (ports.some((port) => !isAnswered(replies, port))) return undefined
    return ports
      .filter((port) => isOccupied(replies, port))
      .map((port) => toUnit(replies, port, { id: `${id}:${port}`, name: `${name}, port ${port}` }))
  },
}

function isAnswered(replies: Replies, port: number): boolean {
  const query = { command: 'glevelbatt', channel: port }
  const reply = replies.get(keyOf(query))
  return reply !== undefined && (!('errorCode' in reply) || isAbsent(replies, query))
}

function isOccupied(replies: Replies, port: number): boolean | undefined {
  return readPresence(replies, port, fields.isOccupied)
}

/** The last value of `glevelbatt` is not read: public sources describe it as a charging state or as error flags. */
function toUnit(replies: Replies, port: number, { id, name }: { id: string; name: string }): DeviceReport {
  const read = createReader(replies, port)
  return withoutUndefined<DeviceReport>({
    id,
    kind: 'transmitter',
    device_type: 'esw',
    name: read(fields.transmitterName) ?? name,
    model_name: read(fields.transmitterModel),
    online: true,
    battery: read(fields.charge),
    details: withoutUndefined({
      battery_cycles: read(fields.cycles),
      battery_health: read(fields.health),
      battery_minutes_to_full: read(fields.minutesToFull),
      battery_temperature_c: read(fields.temperature),
    }),
  })
}
