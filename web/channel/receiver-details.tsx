import type { ReceiverDetail, RunningScan } from '../../src/contract/receivers.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { Ago } from '../parts/age.tsx'
import { faultText } from '../parts/equipment/equipment-details.ts'
import { ManufacturerName } from '../parts/equipment/manufacturer-names.tsx'
import { baseStationPairs } from './base-station.ts'

/** Messages after which the details of a receiver may have changed. */
export const receiverTopics = ['receiver', 'source', 'slots'] as const

export function receiverPairs(body: ReceiverDetail) {
  return [
    { name: t('channel.fields.receiver'), value: plainText(body.name) },
    { name: t('channel.fields.model'), value: body.model },
    { name: t('channel.fields.manufacturer'), value: <ManufacturerName code={body.manufacturer} /> },
    { name: t('channel.fields.site'), value: body.site && plainText(body.site.name) },
    { name: t('channel.fields.serial'), value: body.serial_number },
    { name: t('channel.fields.firmware'), value: body.firmware_version },
    { name: t('channel.fields.fault'), value: faultText(body.details) },
    ...baseStationPairs(body),
    { name: t('channel.fields.scanning'), value: scanText(body.details?.scanning) },
    { name: t('receiver.spare'), value: body.spare ? t('channel.fields.yes') : null },
    { name: t('channel.fields.hostedFirmware'), value: body.hosted_firmware_version },
    { name: t('channel.fields.location'), value: body.location?.name },
    { name: t('channel.fields.description'), value: body.description && plainText(body.description) },
    { name: t('channel.fields.active'), value: body.is_active ? t('channel.fields.yes') : t('channel.fields.no') },
    {
      name: t('channel.fields.lastSeen'),
      // While the receiver responds, this page does not read `last_seen` again, so the time would be out of date.
      value: body.is_active ? t('parts.justNow') : <Ago at={body.last_seen} />,
    },
  ]
}

function scanText(scan: RunningScan | null | undefined): string | null {
  return scan ? `${scan.from_mhz} – ${scan.to_mhz} MHz` : null
}

export function networkPairs(body: ReceiverDetail) {
  return [
    { name: t('channel.fields.ip'), value: body.ip },
    { name: t('channel.fields.mac'), value: body.mac_address },
    { name: t('channel.fields.subnet'), value: body.subnet_mask },
    { name: t('channel.fields.gateway'), value: body.gateway },
    { name: t('channel.fields.networkMode'), value: body.network_mode },
  ]
}

export function rawReceiverPairs(body: ReceiverDetail) {
  return [
    { name: t('channel.raw.receiver'), value: String(body.id) },
    { name: t('channel.raw.manufacturer'), value: body.manufacturer },
    { name: t('channel.fields.type'), value: body.device_type },
    { name: t('channel.fields.interfaceId'), value: body.interface_id },
    { name: t('channel.fields.deviceId'), value: body.api_device_id },
  ]
}
