/** References to devices and channels, which do not depend on the ids of an installation. */

import type Type from 'typebox'
import { type Body, boundedText, boundedWhole, code } from '../../contract/schema.ts'
import type { Channel, Receiver } from '../../domain/equipment/receiver.ts'
import { macKey, serialKey } from '../../domain/identity/reconcile.ts'
import { partial, record } from './entries.ts'

/** A device is identified by its serial number, else its MAC address, else the id that its system gives it. */
export const deviceFields = {
  manufacturer: code,
  ...partial({
    serial_number: boundedText(1, 1024),
    mac_address: boundedText(1, 1024),
    api_device_id: boundedText(1, 1024),
  }),
}
export type DeviceReference = Body<Type.TObject<typeof deviceFields>>

export const channelNumber = boundedWhole(1, 65_535)
export const channelFields = { ...deviceFields, channel: channelNumber }
export const ChannelReference = record(channelFields, 'a channel of a device')
export type ChannelReference = Body<typeof ChannelReference>

export function toReference({
  manufacturer,
  serial_number,
  mac_address,
  api_device_id,
}: {
  readonly [Key in keyof Required<DeviceReference>]: string | (Key extends 'manufacturer' ? never : null)
}): DeviceReference {
  return {
    manufacturer,
    ...(serial_number !== null && { serial_number }),
    ...(mac_address !== null && { mac_address }),
    ...(api_device_id !== null && { api_device_id }),
  }
}

/** Returns the references to all channels by their ids. */
export function indexChannels(receivers: readonly Receiver[]): ReadonlyMap<number, ChannelReference> {
  return new Map(
    receivers.flatMap((receiver) =>
      receiver.channels.map(({ id, channel }) => [id, { ...toReference(receiver), channel }] as const),
    ),
  )
}

/**
 * Finds the receiver by serial number, then by MAC address, then by the upstream's id unless the serial numbers differ.
 */
export function findReceiver(receivers: readonly Receiver[], entry: DeviceReference): Receiver | undefined {
  const candidates = receivers.filter(
    ({ manufacturer, origin }) => manufacturer === entry.manufacturer && origin === undefined,
  )
  const serial = serialKey(entry.serial_number)
  const mac = macKey(entry.mac_address)
  return (
    candidates.find(({ serial_number }) => serial !== null && serialKey(serial_number) === serial) ??
    candidates.find(({ mac_address }) => mac !== null && macKey(mac_address) === mac) ??
    candidates.find(
      ({ api_device_id, serial_number }) =>
        entry.api_device_id !== undefined &&
        api_device_id === entry.api_device_id &&
        (serial === null || serialKey(serial_number) === null),
    )
  )
}

export function findChannel(
  receivers: readonly Receiver[],
  reference: ChannelReference,
): { readonly receiver: Receiver; readonly channel: Channel } | undefined {
  const receiver = findReceiver(receivers, reference)
  const channel = receiver?.channels.find(({ channel }) => channel === reference.channel)
  return receiver && channel && { receiver, channel }
}

export function describeDevice({ manufacturer, serial_number, mac_address, api_device_id }: DeviceReference): string {
  return `${manufacturer} ${serial_number ?? mac_address ?? api_device_id ?? ''}`
}

export function describeChannel(reference: DeviceReference, channel: number | string): string {
  return `${describeDevice(reference)}, channel ${channel}`
}
