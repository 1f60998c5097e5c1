/**
 * Chargers of ESW (ESW-CHG4, ESW-CHG5): queries, and the conversion of their answers. The order of the values is that of
 * the public Companion module. Pure.
 */

import type { DeviceReport } from '../../domain/equipment/receiver.ts'
import { readBattery, readText, readWhole, withoutUndefined } from '../../upstream/fields.ts'
import { parseMinutes } from './codec.ts'
import { createReader, type Family, isRejected, macOf, queriesFor, type Replies, valuesOf } from './family.ts'

/** The numbers that a query may contain. A charger rejects those of ports that it does not have. */
const ports = [1, 2, 3, 4, 5, 6, 7, 8] as const
const transmitterCommands = ['gtxname', 'gtxmodel']

export const charger: Family = {
  deviceType: 'charger',
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
  toDetails: (replies) => withoutUndefined({ description: createReader(replies).name('glocationname') ?? undefined }),
  toUnits(replies, { id, name }) {
    // The list has to be complete.
    if (ports.some((port) => isOccupied(replies, port) === undefined)) return undefined
    return ports
      .filter((port) => isOccupied(replies, port))
      .map((port) => toUnit(replies, port, { id: `${id}:${port}`, name: `${name}, port ${port}` }))
  },
}

/** Whether a transmitter or a battery is in the port; undefined if it is unknown. An empty port may reject the query. */
function isOccupied(replies: Replies, port: number): boolean | undefined {
  if (isRejected(replies, { command: 'glevelbatt', channel: port })) return false
  const [isSet] = valuesOf(replies, 'glevelbatt', port)
  return isSet === undefined ? undefined : isSet === '1'
}

/** The last value of `glevelbatt` is not read: public sources describe it as a charging state or as error flags. */
function toUnit(replies: Replies, port: number, { id, name }: { id: string; name: string }): DeviceReport {
  const read = createReader(replies, port)
  const toFull = read.value('glevelbatt', 4)
  return withoutUndefined<DeviceReport>({
    id,
    kind: 'transmitter',
    device_type: 'esw',
    name: read.name('gtxname') ?? name,
    model_name: readText(read.value('gtxmodel')),
    online: true,
    battery: readBattery(read.integer('glevelbatt', 1)),
    details: withoutUndefined({
      battery_cycles: readWhole(read.integer('glevelbatt', 2), 0, 65_535),
      battery_health: readBattery(read.integer('glevelbatt', 3)),
      battery_minutes_to_full: toFull === undefined ? undefined : readWhole(parseMinutes(toFull), 0, 6000),
      battery_temperature_c: readWhole(read.integer('glevelbatt', 5), -40, 215),
    }),
  })
}
