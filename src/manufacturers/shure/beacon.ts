/**
 * Parses the beacons of Shure devices: SLP messages with ACN attributes (ANSI E1.17), sent about every two seconds. The
 * attribute names and the structure of the ids were observed on a QLXD4.
 */

import { parseAttributeReply, type SlpAttributes } from '../../upstream/dns-sd.ts'
import { maxNameChars, readMac, readText } from '../../upstream/fields.ts'
import type { AnnouncedDevice, Beacon } from '../plugin.ts'
import { findModel } from './component-ids.ts'
import { countByModel, detectFamily } from './strings/families.ts'
import { idPrefix } from './strings/translate.ts'

/** The group and port registered for SLP are 239.255.255.253 and 427. */
export const beacon: Beacon = {
  group: { address: '239.255.254.253', port: 8427 },
  read(datagram, ip) {
    const attributes = parseAttributeReply(datagram)
    return attributes === null ? null : toAnnouncedDevice(attributes, ip)
  },
}

/** Returns null if the device is not known to support command strings. */
function toAnnouncedDevice(attributes: SlpAttributes, ip: string): AnnouncedDevice | null {
  const known = findModel(/\bcd:([0-9a-f-]{36})/i.exec(attributes['csl-esta.dmp'] ?? '')?.[1] ?? '')
  const reportedModel = readText(attributes['acn-fctn'], maxNameChars) ?? null
  const device = known ?? (reportedModel === null ? null : findByName(reportedModel))
  if (device === null) return null
  const mac_address = macOf(attributes.cid ?? '')
  const name = reportedModel ?? device.model
  return {
    scheme: device.device_type === 'uhfr' ? 'udp:' : 'tcp:',
    id: `${idPrefix}${mac_address ?? ip}`,
    device_type: device.device_type,
    model: known?.band ? `${name} ${known.band}` : name,
    mac_address,
    channels: device.channels,
  }
}

/** Identifies a model that is newer than the table of ids. */
function findByName(model: string) {
  const values = { MODEL: model }
  const family = detectFamily(values)
  return family && { model, device_type: family.name, channels: countByModel(family, model) ?? 0 }
}

/** The last four bytes of the MAC address begin the id. Returns null outside Shure's range 00:0E:DD. */
function macOf(cid: string): string | null {
  return /^dd[0-9a-f]{6}-/i.test(cid) ? (readMac(`000E${cid.slice(0, 8)}`) ?? null) : null
}
