/** The known units in memory, indexed by channel and device. */

import type { Unit, UnitIndex } from '../domain/equipment/hardware.ts'

export interface UnitStore extends UnitIndex {
  get(id: number): Unit | undefined
  /** Lists the units, ordered by id. */
  list(): readonly Unit[]
  put(unit: Unit): void
  /** Removes the units of a removed manufacturer. */
  removeManufacturer(code: string): void
  /** Removes the units that a removed receiver received or reported. */
  removeReceiver(receiverId: number): void
}

export function createUnitStore(): UnitStore {
  const byId = new Map<number, Unit>()
  const byChannel = new Map<number, Unit>()
  const byDevice = new Map<string, Unit>()
  const deviceKey = (manufacturer: string, apiDeviceId: string) => `${manufacturer}\n${apiDeviceId}`
  const remove = (unit: Unit) => {
    byId.delete(unit.id)
    if (unit.channel_id !== null) byChannel.delete(unit.channel_id)
    if (unit.api_device_id !== null) byDevice.delete(deviceKey(unit.manufacturer, unit.api_device_id))
  }
  return {
    get: (id) => byId.get(id),
    list: () => [...byId.values()].sort((a, b) => a.id - b.id),
    ofChannel: (channelId) => byChannel.get(channelId),
    ofDevice: (manufacturer, apiDeviceId) => byDevice.get(deviceKey(manufacturer, apiDeviceId)),
    reportedBy: (receiverId) =>
      [...byDevice.values()].filter(({ receiver_id, channel_id }) => receiver_id === receiverId && channel_id === null),
    put(unit) {
      byId.set(unit.id, unit)
      if (unit.channel_id !== null) byChannel.set(unit.channel_id, unit)
      if (unit.api_device_id !== null) byDevice.set(deviceKey(unit.manufacturer, unit.api_device_id), unit)
    },
    removeManufacturer(code) {
      for (const unit of byId.values()) if (unit.manufacturer === code) remove(unit)
    },
    removeReceiver(receiverId) {
      for (const unit of byId.values()) if (unit.receiver_id === receiverId) remove(unit)
    },
  }
}
