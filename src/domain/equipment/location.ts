import type {
  HardwareLayout,
  LayoutLocation,
  LayoutReceiver,
  Location,
  LocationReference,
} from '../../contract/locations.ts'
import { groupBy } from '../group-by.ts'
import type { Receiver } from './receiver.ts'

export type { Location } from '../../contract/locations.ts'

type LayoutUnit = LayoutReceiver['units'][number]

/** `unitsOf` returns the packs that a receiver reports. */
export function toLayout(
  locations: readonly Location[],
  receivers: readonly Receiver[],
  unitsOf: (receiverId: number) => readonly LayoutUnit[],
): HardwareLayout {
  const toLayoutReceiver = (receiver: Receiver) => withUnits(receiver, unitsOf(receiver.id))
  const childrenOf = groupBy(locations, (location) => location.parent)
  const receiversOf = groupBy(receivers, (receiver) => receiver.location)
  const toLayoutLocation = ({ parent: _, ...location }: Location): LayoutLocation => ({
    ...location,
    receivers: (receiversOf.get(location.id) ?? []).map(toLayoutReceiver),
    locations: (childrenOf.get(location.id) ?? []).map(toLayoutLocation),
  })
  return {
    locations: (childrenOf.get(null) ?? []).map(toLayoutLocation),
    unplaced: (receiversOf.get(null) ?? []).map(toLayoutReceiver),
  }
}

export function isCircular(locations: readonly Location[], id: number, parent: number | null): boolean {
  const parents = new Map(locations.map((location) => [location.id, location.parent]))
  let current = parent
  for (let steps = 0; current !== null && steps <= locations.length; steps += 1) {
    if (current === id) return true
    current = parents.get(current) ?? null
  }
  return false
}

export function toLocationReference(locations: readonly Location[], id: number | null): LocationReference | null {
  const found = id === null ? undefined : locations.find((location) => location.id === id)
  return found === undefined ? null : { id: found.id, name: found.name }
}

function withUnits(receiver: Receiver, units: readonly LayoutUnit[]): LayoutReceiver {
  const { id, name, manufacturer, device_type, model, ip, is_active, channels } = receiver
  return {
    id,
    name,
    manufacturer,
    device_type,
    model,
    ip,
    is_active,
    channels: channels.map(({ id, channel, slot, name }) => ({ id, channel, slot, name })),
    units: units.map(({ id, name, battery, is_online, details }) => ({ id, name, battery, is_online, details })),
  }
}
