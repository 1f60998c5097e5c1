import type { Unit, UnitIndex } from '../domain/equipment/hardware.ts'
import { hasSameIdentity, type PackIdentity, type PackIndex } from '../domain/equipment/packs.ts'
import { Topic } from '../platform/topic.ts'

/** Equipment reports the values of another pack one by one within this time. */
const identifiedWithinMs = 5000

/** The known units in memory, indexed by channel and device. */
export class UnitStore implements UnitIndex, PackIndex {
  /** A channel of the receiver with this id has another unit. */
  readonly channelsChanged = new Topic<number>()
  readonly #byId = new Map<number, Unit>()
  readonly #byChannel = new Map<number, Unit>()
  readonly #byDevice = new Map<string, Unit>()
  /** Channel units. */
  readonly #byName = new Map<string, Set<Unit>>()
  /** For each channel unit that has changed on its channel, its previous identity, and when it changed. */
  readonly #identities = new Map<number, { readonly identity: PackIdentity; readonly at: number }>()

  get(id: number): Unit | undefined {
    return this.#byId.get(id)
  }

  /** Lists the units, ordered by id. */
  list(): readonly Unit[] {
    return [...this.#byId.values()].sort((a, b) => a.id - b.id)
  }

  ofChannel(channelId: number): Unit | undefined {
    return this.#byChannel.get(channelId)
  }

  ofDevice(manufacturer: string, apiDeviceId: string): Unit | undefined {
    return this.#byDevice.get(keyOf(manufacturer, apiDeviceId))
  }

  reportedBy(receiverId: number): readonly Unit[] {
    const reported = [...this.#byDevice.values()].filter(({ receiver_id }) => receiver_id === receiverId)
    return reported.sort((a, b) => a.id - b.id)
  }

  named(manufacturer: string, name: string): Iterable<Unit> {
    return this.#byName.get(keyOf(manufacturer, name)) ?? []
  }

  identityOf(unit: Unit): PackIdentity {
    const before = this.#identities.get(unit.id)
    return this.#isRecent(before) ? before.identity : unit
  }

  put(unit: Unit): void {
    const before = this.#byId.get(unit.id)
    if (before !== undefined) this.#remove(before)
    this.#byId.set(unit.id, unit)
    if (unit.channel_id !== null) this.#byChannel.set(unit.channel_id, unit)
    if (unit.api_device_id !== null) this.#byDevice.set(keyOf(unit.manufacturer, unit.api_device_id), unit)
    else this.#putName(unit)
    if (before?.channel_id === unit.channel_id) this.#recordIdentity(before, unit)
    else {
      this.#identities.delete(unit.id)
      for (const id of [before?.receiver_id, unit.receiver_id]) if (id != null) this.channelsChanged.publish(id)
    }
  }

  remove(id: number): void {
    const unit = this.#byId.get(id)
    if (unit === undefined) return
    this.#remove(unit)
    this.#identities.delete(id)
  }

  removeManufacturer(code: string): void {
    for (const unit of this.#byId.values()) if (unit.manufacturer === code) this.remove(unit.id)
  }

  /** Removes the units that a removed receiver received or reported. */
  removeReceiver(receiverId: number): void {
    for (const unit of this.#byId.values()) if (unit.receiver_id === receiverId) this.remove(unit.id)
  }

  #recordIdentity(before: Unit, after: Unit): void {
    if (hasSameIdentity(before, after) || this.#isRecent(this.#identities.get(after.id))) return
    this.#identities.set(after.id, { identity: before, at: performance.now() })
  }

  #isRecent<T extends { readonly at: number }>(change: T | undefined): change is T {
    return change !== undefined && performance.now() - change.at < identifiedWithinMs
  }

  #putName(unit: Unit): void {
    const key = keyOf(unit.manufacturer, unit.name ?? '')
    const named = this.#byName.get(key)
    if (named === undefined) this.#byName.set(key, new Set([unit]))
    else named.add(unit)
  }

  #remove(unit: Unit): void {
    this.#byId.delete(unit.id)
    // Another unit may have been put on the channel first.
    if (unit.channel_id !== null && this.#byChannel.get(unit.channel_id) === unit)
      this.#byChannel.delete(unit.channel_id)
    if (unit.api_device_id !== null) this.#byDevice.delete(keyOf(unit.manufacturer, unit.api_device_id))
    const key = keyOf(unit.manufacturer, unit.name ?? '')
    const named = this.#byName.get(key)
    if (named?.delete(unit) && named.size === 0) this.#byName.delete(key)
  }
}

function keyOf(manufacturer: string, id: string): string {
  return `${manufacturer}\n${id}`
}
