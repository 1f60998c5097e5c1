/** Places, one inside another, and the hardware that stands in them. */

import type { TransmitterDetails } from './details.ts'
import type { Receiver } from './receiver.ts'

export interface Location {
  readonly id: number
  readonly name: string
  readonly description: string
  /** The place it is part of; null at the top. */
  readonly parent: number | null
}

/** A place in another record. */
export interface LocationReference {
  readonly id: number
  readonly name: string
}

/** A pack that a device tells of without hearing it on a channel: docked in a charger, or only listening. */
export interface LayoutUnit {
  readonly id: number
  readonly name: string | null
  readonly battery: number | null
  readonly is_online: boolean
  readonly details: TransmitterDetails | null
}

export interface LayoutReceiver
  extends Pick<Receiver, 'id' | 'name' | 'manufacturer' | 'device_type' | 'model' | 'ip' | 'is_active'> {
  readonly channels: readonly {
    readonly id: number
    readonly channel: number
    readonly slot: number
    readonly name: string | null
  }[]
  readonly units: readonly LayoutUnit[]
}

export interface LayoutLocation extends Omit<Location, 'parent'> {
  readonly receivers: readonly LayoutReceiver[]
  readonly locations: readonly LayoutLocation[]
}

/** `GET /api/admin/hardware-layout/`: locations -> receivers -> channels and packs. */
export interface HardwareLayout {
  readonly locations: readonly LayoutLocation[]
  /** Receivers that stand nowhere yet. */
  readonly unplaced: readonly LayoutReceiver[]
}

/** `unitsOf`: the packs that a receiver, by its id, tells of. */
export function toLayout(
  locations: readonly Location[],
  receivers: readonly Receiver[],
  unitsOf: (receiverId: number) => readonly LayoutUnit[],
): HardwareLayout {
  const toLayoutReceiver = (receiver: Receiver) => withUnits(receiver, unitsOf(receiver.id))
  const childrenOf = groupBy(locations, (one) => one.parent)
  const standingIn = groupBy(receivers, (one) => one.location)
  const place = ({ parent: _, ...location }: Location): LayoutLocation => ({
    ...location,
    receivers: (standingIn.get(location.id) ?? []).map(toLayoutReceiver),
    locations: (childrenOf.get(location.id) ?? []).map(place),
  })
  return {
    locations: (childrenOf.get(null) ?? []).map(place),
    unplaced: (standingIn.get(null) ?? []).map(toLayoutReceiver),
  }
}

/** Whether `id` would be inside itself with this parent. */
export function isCircular(locations: readonly Location[], id: number, parent: number | null): boolean {
  const parents = new Map(locations.map((one) => [one.id, one.parent]))
  for (let at = parent, steps = 0; at !== null && steps <= locations.length; at = parents.get(at) ?? null, steps += 1) {
    if (at === id) return true
  }
  return false
}

export function toLocationReference(locations: readonly Location[], id: number | null): LocationReference | null {
  const found = id === null ? undefined : locations.find((one) => one.id === id)
  return found === undefined ? null : { id: found.id, name: found.name }
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => number | null): Map<number | null, Item[]> {
  const groups = new Map<number | null, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
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
    channels: channels.map((one) => ({ id: one.id, channel: one.channel, slot: one.slot, name: one.name })),
    units: units.map((one) => ({
      id: one.id,
      name: one.name,
      battery: one.battery,
      is_online: one.is_online,
      details: one.details,
    })),
  }
}
