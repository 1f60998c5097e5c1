import { emptyChannel, type Receiver } from '../../../src/domain/equipment/receiver.ts'

interface DraftFields extends Partial<Receiver> {
  readonly channelNumbers?: readonly number[]
}

/** Creates a receiver to insert; different numbers result in different devices. */
export function draft(number: number, { channelNumbers = [1, 2], ...fields }: DraftFields = {}): Receiver {
  return {
    id: 0,
    manufacturer: 'shure',
    api_device_id: `device-${number}`,
    name: `Receiver ${number}`,
    device_type: 'ulxd',
    model: 'ULXD4D',
    serial_number: `SN${number}`,
    mac_address: `00:0E:DD:00:${hex(number >> 8)}:${hex(number & 255)}`,
    ip: `10.0.${number >> 8}.${number & 255}`,
    subnet_mask: '255.255.0.0',
    gateway: '10.0.0.1',
    network_mode: 'dhcp',
    interface_id: null,
    description: null,
    firmware_version: '2.7.1',
    hosted_firmware_version: null,
    is_active: true,
    last_seen: 1_700_000_000_000 + number,
    location: null,
    is_named_by_hand: false,
    channels: channelNumbers.map((channel) => emptyChannel(0, channel, 0)),
    ...fields,
  }
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}
