import type { Unit, UnitIndex } from '../domain/equipment/hardware.ts'

/** The known units in memory, indexed by channel and device. */
export class UnitStore implements UnitIndex {
  readonly #byId = new Map<number, Unit>()
  readonly #byChannel = new Map<number, Unit>()
  readonly #byDevice = new Map<string, Unit>()

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
    return this.#byDevice.get(deviceKey(manufacturer, apiDeviceId))
  }

  reportedBy(receiverId: number): readonly Unit[] {
    const units = [...this.#byDevice.values()]
    return units.filter(({ receiver_id, channel_id }) => receiver_id === receiverId && channel_id === null)
  }

  put(unit: Unit): void {
    this.#byId.set(unit.id, unit)
    if (unit.channel_id !== null) this.#byChannel.set(unit.channel_id, unit)
    if (unit.api_device_id !== null) this.#byDevice.set(deviceKey(unit.manufacturer, unit.api_device_id), unit)
  }

  /** Removes the units of a removed manufacturer. */
  removeManufacturer(code: string): void {
    for (const unit of this.#byId.values()) if (unit.manufacturer === code) this.#remove(unit)
  }

  /** Removes the units that a removed receiver received or reported. */
  removeReceiver(receiverId: number): void {
    for (const unit of this.#byId.values()) if (unit.receiver_id === receiverId) this.#remove(unit)
  }

  #remove(unit: Unit): void {
    this.#byId.delete(unit.id)
    if (unit.channel_id !== null) this.#byChannel.delete(unit.channel_id)
    if (unit.api_device_id !== null) this.#byDevice.delete(deviceKey(unit.manufacturer, unit.api_device_id))
  }
}

function deviceKey(manufacturer: string, apiDeviceId: string): string {
  return `${manufacturer}\n${apiDeviceId}`
}
